/** `torana audit`: who changed what, and when. */
import { command } from '../command/command.ts'
import { FROM_TO, LIMIT, limitOf, queryOf } from './query.ts'
import { table } from '../command/table.ts'

interface Entry {
  readonly sequence: number
  readonly at: string
  readonly actor: string
  readonly address: string | null
  readonly action: string
  readonly target: string
  readonly intact: boolean
}

interface AuditPage {
  readonly data: readonly Entry[]
  readonly has_more: boolean
}

/** What one page has at most. */
const PAGE = 500

export const audit = command({
  name: 'audit',
  summary: 'list changes, newest first: who changed what, and when',
  options: {
    ...FROM_TO,
    actor: { takes: '<name>', says: 'by this person or token' },
    action: { takes: '<action>', says: 'such as key.revoke' },
    target: { takes: '<target>', says: 'such as search/ci' },
    limit: LIMIT,
  },
  reach: 'node',
  more: 'Each entry is checked against the one before it: the exit code is 1 if one is not intact.',
  examples: ['torana audit --from 7d', 'torana audit --action key.revoke --json'],
  async run({ control, text }) {
    const query = queryOf(text, {
      from: 'from',
      to: 'to',
      actor: 'actor',
      action: 'action',
      target: 'target',
    })
    const most = limitOf(text('limit'))
    const node = await control()
    const found: Entry[] = []
    for (let hasMore = true; hasMore && found.length < most;) {
      query.set('limit', String(Math.min(PAGE, most - found.length)))
      const last = found.at(-1)
      if (last !== undefined) query.set('before', String(last.sequence))
      const page = await node.ask<AuditPage>('GET', `/audit?${query.toString()}`)
      found.push(...page.data)
      hasMore = page.has_more
    }
    const exitCode = found.every(({ intact }) => intact) ? 0 : 1
    return { data: found, text: listing(found), exitCode }
  },
})

function listing(found: readonly Entry[]): string {
  if (found.length === 0) return 'There are no such entries.\n'
  const head = ['entry', 'at', 'by', 'from', 'action', 'target', 'intact']
  const rows = found.map((one) => [
    String(one.sequence),
    one.at.slice(0, 19).replace('T', ' '),
    one.actor,
    one.address || '-',
    one.action,
    one.target,
    one.intact ? 'yes' : 'NO',
  ])
  return table([head, ...rows])
}
