/** `torana nodes …`: the processes that write to the books. */
import type { Output } from './output.ts'
import { table } from './table.ts'
import { dayText, shownUsd } from './terms.ts'
import { runVerb, type Verb } from './verbs.ts'

interface NodeBody {
  readonly id: string
  readonly host: string
  readonly version: string
  readonly state: string
  readonly started_at: string
  readonly seen_at: string
  readonly leased_usd: string
}

const VERBS: Readonly<Record<string, Verb>> = {
  list: {
    takes: '[--all] [--json]',
    says: 'list the nodes; --all includes nodes that ended in the last week',
    target: 'none',
    options: { all: { type: 'boolean' }, json: { type: 'boolean' } },
    async run({ control, flag, out }) {
      const { data } = await control.ask<{ readonly data: readonly NodeBody[] }>('GET', '/nodes')
      const nodes = data.filter(({ state }) => flag('all') || state !== 'ended')
      out.stdout.write(flag('json') ? `${JSON.stringify(nodes, undefined, 2)}\n` : listing(nodes))
    },
  },
  end: {
    takes: '<id> [--force]',
    says: 'end a node whose machine is gone, and return its leased budget; --force ends a live node too',
    target: 'required',
    options: { force: { type: 'boolean' } },
    async run({ control, target, flag, out }) {
      const body = { force: flag('force') }
      const path = `/nodes/${encodeURIComponent(target)}/end`
      const { returned_usd: returned } = await control.ask<{ readonly returned_usd: string }>(
        'POST',
        path,
        body,
      )
      out.stderr.write(`${target} is ended; ${shownUsd(returned)} of budgets was returned.\n`)
    },
  },
}

/** Without a verb they are listed. */
export function run(argv: string[], out: Output): Promise<number> {
  return runVerb('nodes', VERBS, argv.length === 0 ? ['list'] : argv, out)
}

function listing(nodes: readonly NodeBody[]): string {
  const rows = nodes.map((node) => [
    node.id,
    node.host,
    node.version,
    node.state,
    dayText(node.started_at),
    dayText(node.seen_at),
    shownUsd(node.leased_usd),
  ])
  return table([['node', 'host', 'version', 'state', 'started', 'seen', 'leased'], ...rows])
}
