/** `torana nodes …`: processes that write to the ledger. */
import { command, group } from '../command/command.ts'
import { shownUsd } from './columns.ts'
import { listCommand } from './list-command.ts'

const list = listCommand({
  summary: 'list the nodes',
  options: { all: { says: 'nodes that ended in the last week, too' } },
  path: '/nodes',
  columns: {
    node: 'id',
    host: 'host',
    version: 'version',
    role: 'role',
    state: 'state',
    started: 'started_at',
    seen: 'seen_at',
    leased: 'leased_usd',
  },
  includes: ({ state }: { readonly state: string }, { flag }) => flag('all') || state !== 'ended',
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
    const ended = await control.ask<{ readonly returned_usd: string }>('POST', path, body)
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
