/** `torana spaces …`: the vector space of each embedding model, and how its deployments stand in it. */
import { command, group } from '../command/command.ts'
import type { ControlClient } from '../client/control-client.ts'
import { table } from '../command/table.ts'
import { dayText } from './terms.ts'

interface ProbeBody {
  readonly at: string
  readonly deployment: string
  readonly verdict: string
  readonly least_cosine: number | null
  readonly norm_drift: number | null
  readonly reason: string | null
}

interface SpaceBody {
  readonly model: string
  readonly space: string
  readonly guarded: boolean
  readonly deployments: readonly {
    readonly deployment: string
    readonly state: string
    readonly reason: string | null
    readonly last_good_at: string | null
    readonly last_probe: ProbeBody | null
  }[]
}

/** A deployment that does not answer is waited for, several times over if it is one of many. */
const PROBING_MS = 5 * 60_000

const list = command({
  name: 'list',
  summary: "show each model's vector space, and the state of its deployments",
  reach: 'node',
  async run({ control }) {
    const found = await listed(await control())
    return { data: found, text: listing(found) }
  },
})

const accept = command({
  name: 'accept',
  summary: 'accept the vectors of a deployment as the new space of its model',
  arguments: [
    { name: '<model>', says: 'the model' },
    { name: '<deployment>', says: 'the deployment whose vectors are the new space' },
  ],
  more: 'The space gets a new id. Earlier vectors belong to another space: embed all documents again.',
  reach: 'node',
  async run({ control, given: [model = '', deployment = ''] }) {
    const path = `/spaces/${encodeURIComponent(model)}/accept`
    const accepted = await (await control()).ask<SpaceBody>('POST', path, { deployment }, PROBING_MS)
    const note = `The space of ${accepted.model} is now ${accepted.space}. Earlier vectors belong to another space: embed all documents again.`
    return { data: accepted, text: listing([accepted]), note }
  },
})

const probe = command({
  name: 'probe',
  summary: 'probe all deployments of a model, or of all models, now',
  arguments: [{ name: '<model>', says: 'the model (all)', isOptional: true }],
  more: 'The exit code is 1 if a deployment is outside of its space.',
  reach: 'node',
  async run({ control, given }) {
    const node = await control()
    const guarded = async () => (await listed(node)).flatMap((one) => (one.guarded ? one.model : []))
    const probes: ProbeBody[] = []
    for (const model of given.length > 0 ? given : await guarded()) {
      const path = `/spaces/${encodeURIComponent(model)}/probe`
      const { data } = await node.ask<{ readonly data: readonly ProbeBody[] }>(
        'POST',
        path,
        undefined,
        PROBING_MS,
      )
      probes.push(...data)
    }
    const exitCode = probes.some(({ verdict }) => verdict === 'quarantined') ? 1 : 0
    return { data: probes, text: probeListing(probes), exitCode }
  },
})

export const spaces = group({
  name: 'spaces',
  summary: 'show vector spaces, probe deployments, accept a new space',
  subcommands: [list, accept, probe],
})

async function listed(control: ControlClient): Promise<readonly SpaceBody[]> {
  return (await control.ask<{ readonly data: readonly SpaceBody[] }>('GET', '/spaces')).data
}

function listing(spaces: readonly SpaceBody[]): string {
  const head = ['model', 'space', 'deployment', 'state', 'least cosine', 'last good', 'last probe', 'reason']
  const rows = spaces.flatMap(({ model, space, deployments }) =>
    deployments.map((one) => [
      model,
      space,
      one.deployment,
      one.state,
      cosineText(one.last_probe),
      dayText(one.last_good_at),
      dayText(one.last_probe?.at ?? null),
      one.reason ?? '-',
    ]),
  )
  return rows.length === 0 ? 'There are no embedding models.\n' : table([head, ...rows])
}

function probeListing(probes: readonly ProbeBody[]): string {
  const head = ['deployment', 'verdict', 'least cosine', 'length drift', 'reason']
  const rows = probes.map((one) => [
    one.deployment,
    one.verdict,
    cosineText(one),
    one.norm_drift === null ? '-' : `${(one.norm_drift * 100).toFixed(4)} %`,
    one.reason ?? '-',
  ])
  return rows.length === 0 ? 'No embedding model has the space guard on.\n' : table([head, ...rows])
}

function cosineText(probe: ProbeBody | null): string {
  return probe === null || probe.least_cosine === null ? '-' : probe.least_cosine.toFixed(6)
}
