/** `torana spaces …`: the vector space of each embedding model, and how its deployments stand in it. */
import { parseArgs } from 'node:util'
import { CommandProblem, openControl, type ControlClient } from './control-client.ts'
import type { Output } from './output.ts'
import { table } from './table.ts'
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

const USAGE = `usage: torana spaces [list] [--json]
           show each model's vector space, and the state of its deployments
       torana spaces accept <model> <deployment>
           accept the vectors of this deployment as the model's new space. The space gets a new id: embed all documents again
       torana spaces probe [<model>] [--json]
           probe all deployments of the model, or of all models, now; the exit code is 1 if one is outside its space

--url <address>: the control port of the node. Default: the node of the data folder, by its socket.
`

/** A deployment that does not answer is waited for, several times over if it is one of many. */
const PROBING_MS = 5 * 60_000

interface SpacesCommand {
  readonly verb: string
  readonly names: readonly string[]
  readonly isJson: boolean
  readonly url: string | undefined
  readonly isHelp: boolean
}

/** Without a verb they are listed. */
export async function run(argv: string[], out: Output): Promise<number> {
  const asked = read(argv)
  if (asked === undefined || asked.isHelp) {
    out.stderr.write(USAGE)
    return asked?.isHelp ? 0 : 2
  }
  try {
    const control = openControl(asked.url, process.env, process.cwd())
    if (asked.verb === 'accept') return await accept(control, asked, out)
    if (asked.verb === 'probe') return await probe(control, asked, out)
    const spaces = await listed(control)
    out.stdout.write(asked.isJson ? jsonOf(spaces) : listing(spaces))
    return 0
  } catch (error) {
    if (!(error instanceof CommandProblem)) throw error
    out.stderr.write(`torana spaces ${asked.verb}: ${error.message}\n`)
    return 1
  }
}

/** How many names each verb takes. */
const NAMES: Readonly<Record<string, readonly [number, number]>> = {
  list: [0, 0],
  accept: [2, 2],
  probe: [0, 1],
}

function read(argv: string[]): SpacesCommand | undefined {
  try {
    const { values, positionals } = parseArgs({
      args: argv,
      options: {
        json: { type: 'boolean' },
        url: { type: 'string' },
        help: { type: 'boolean', short: 'h' },
      },
      allowPositionals: true,
    })
    const [verb = 'list', ...names] = positionals
    const [least, most] = NAMES[verb] ?? [0, -1]
    const isHelp = values.help === true || verb === 'help'
    if (!isHelp && (names.length < least || names.length > most)) return undefined
    return { verb, names, isJson: values.json === true, url: values.url, isHelp }
  } catch {
    return undefined
  }
}

async function listed(control: ControlClient): Promise<readonly SpaceBody[]> {
  return (await control.ask<{ readonly data: readonly SpaceBody[] }>('GET', '/spaces')).data
}

async function accept(
  control: ControlClient,
  { names, isJson }: SpacesCommand,
  out: Output,
): Promise<number> {
  const [model = '', deployment = ''] = names
  const path = `/spaces/${encodeURIComponent(model)}/accept`
  const accepted = await control.ask<SpaceBody>('POST', path, { deployment }, PROBING_MS)
  out.stderr.write(
    `The space of ${accepted.model} is now ${accepted.space}. Earlier vectors belong to another space: embed all documents again.\n`,
  )
  out.stdout.write(isJson ? jsonOf(accepted) : listing([accepted]))
  return 0
}

async function probe(control: ControlClient, { names, isJson }: SpacesCommand, out: Output): Promise<number> {
  const guarded = async () => (await listed(control)).flatMap((one) => (one.guarded ? one.model : []))
  const models = names.length > 0 ? names : await guarded()
  const probes: ProbeBody[] = []
  for (const model of models) {
    const path = `/spaces/${encodeURIComponent(model)}/probe`
    const { data } = await control.ask<{ readonly data: readonly ProbeBody[] }>(
      'POST',
      path,
      undefined,
      PROBING_MS,
    )
    probes.push(...data)
  }
  out.stdout.write(isJson ? jsonOf(probes) : probeListing(probes))
  return probes.some(({ verdict }) => verdict === 'quarantined') ? 1 : 0
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

function jsonOf(value: unknown): string {
  return `${JSON.stringify(value, undefined, 2)}\n`
}
