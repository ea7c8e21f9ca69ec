/** `torana nodes …`: the processes that write to the ledger. */
import { command, group } from '../command/command.ts'
import { table } from '../command/table.ts'
import { dayText, shownUsd } from './terms.ts'

interface NodeBody {
  readonly id: string
  readonly host: string
  readonly version: string
  readonly role: string
  readonly state: string
  readonly started_at: string
  readonly seen_at: string
  readonly leased_usd: string
}

const list = command({
  name: 'list',
  summary: 'list the nodes',
  options: { all: { says: 'nodes that ended in the last week, too' } },
  reach: 'node',
  async run({ control, flag }) {
    const { data } = await (await control()).ask<{ readonly data: readonly NodeBody[] }>('GET', '/nodes')
    const found = data.filter(({ state }) => flag('all') || state !== 'ended')
    return { data: found, text: listing(found) }
  },
})

const end = command({
  name: 'end',
  summary: 'end a node whose machine is gone, and return its leased budget',
  arguments: [{ name: '<id>', says: 'the id of the node' }],
  options: { force: { says: 'end it even if it is alive' } },
  reach: 'node',
  async run({ control, given: [id = ''], flag }) {
    const path = `/nodes/${encodeURIComponent(id)}/end`
    const body = { force: flag('force') }
    const ended = await (await control()).ask<{ readonly returned_usd: string }>('POST', path, body)
    return {
      data: { id, ...ended },
      note: `${id} is ended; ${shownUsd(ended.returned_usd)} of budgets was returned.`,
    }
  },
})

export const nodes = group({
  name: 'nodes',
  summary: 'list nodes, and end a node whose machine is lost',
  subcommands: [list, end],
})

function listing(nodes: readonly NodeBody[]): string {
  const rows = nodes.map((node) => [
    node.id,
    node.host,
    node.version,
    node.role,
    node.state,
    dayText(node.started_at),
    dayText(node.seen_at),
    shownUsd(node.leased_usd),
  ])
  return table([['node', 'host', 'version', 'role', 'state', 'started', 'seen', 'leased'], ...rows])
}
