/** `torana spaces …`: the vector space of each embedding model, and whether its deployments are in it. */
import { command, group } from '../command/command.ts'
import type { ControlClient } from '../client/control-client.ts'
import { dayText, tableOf, type Columns } from './columns.ts'
import { suspects } from './suspects.ts'

interface ProbeBody {
  readonly at: string
  readonly deployment: string
  readonly verdict: string
  readonly least_cosine: number | null
  readonly norm_drift: number | null
  readonly reason: string | null
}

interface Standing {
  readonly deployment: string
  readonly state: string
  readonly reason: string | null
  readonly last_good_at: string | null
  readonly last_cosine: { readonly least: number; readonly at: string } | null
  readonly last_probe: ProbeBody | null
}

interface SpaceBody {
  readonly model: string
  readonly space: string
  readonly shared_with: readonly string[]
  readonly guarded: boolean
  readonly deployments: readonly Standing[]
}

/** Timeout of a probe: several deployments may each take their own timeout to fail. */
const PROBING_MS = 5 * 60_000

const list = command({
  name: 'list',
  summary: "show each model's vector space, and the state of its deployments",
  reach: 'node',
  async run({ control }) {
    const found = await listed(control)
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
  more: 'The space gets a new id, also for the models that share it. Earlier vectors belong to another space: embed all documents again.',
  reach: 'node',
  async run({ control, given: [model = '', deployment = ''] }) {
    const path = `/spaces/${encodeURIComponent(model)}/accept`
    const accepted = await control.ask<SpaceBody>('POST', path, { deployment }, PROBING_MS)
    const models = [accepted.model, ...accepted.shared_with].join(', ')
    const note = `The space of ${models} is now ${accepted.space}. Earlier vectors belong to another space: embed all documents again.`
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
    const guarded = async () => (await listed(control)).flatMap((one) => (one.guarded ? one.model : []))
    const probes: ProbeBody[] = []
    for (const model of given.length > 0 ? given : await guarded()) {
      const path = `/spaces/${encodeURIComponent(model)}/probe`
      const { data } = await control.ask<{ readonly data: readonly ProbeBody[] }>(
        'POST',
        path,
        undefined,
        PROBING_MS,
      )
      probes.push(...data)
    }
    const exitCode = probes.some(({ verdict }) => verdict === 'quarantined') ? 1 : 0
    return {
      data: probes,
      text: tableOf(PROBE_COLUMNS, probes, 'No embedding model has the space guard on.'),
      exitCode,
    }
  },
})

export const spaces = group({
  name: 'spaces',
  summary: 'show vector spaces, probe deployments, accept a new space, list suspect vectors',
  subcommands: [list, accept, probe, suspects],
})

async function listed(control: ControlClient): Promise<readonly SpaceBody[]> {
  return (await control.ask<{ readonly data: readonly SpaceBody[] }>('GET', '/spaces')).data
}

const COLUMNS: Columns<Standing> = {
  model: 'model',
  space: 'space',
  deployment: 'deployment',
  state: 'state',
  'least cosine': lastCosineText,
  'last good': 'last_good_at',
  'last probe': ({ last_probe: probe }) => dayText(probe?.at ?? null),
  reason: 'reason',
}

const PROBE_COLUMNS: Columns<ProbeBody> = {
  deployment: 'deployment',
  verdict: 'verdict',
  'least cosine': cosineText,
  'length drift': ({ norm_drift: drift }) => (drift === null ? '-' : `${(drift * 100).toFixed(4)} %`),
  reason: 'reason',
}

function listing(spaces: readonly SpaceBody[]): string {
  const rows = spaces.flatMap(({ deployments, ...space }) => deployments.map((one) => ({ ...space, ...one })))
  return [tableOf(COLUMNS, rows, 'There are no embedding models.')].join('\n')
}

/** With its time where the last probe had no answer. */
function lastCosineText({ last_cosine: known, last_probe: probe }: Standing): string {
  if (known === null || probe?.least_cosine !== null) return cosineText(probe)
  return `${known.least.toFixed(6)} at ${dayText(known.at)}`
}

function cosineText(probe: ProbeBody | null): string {
  return probe?.least_cosine?.toFixed(6) ?? '-'
}
