/** `torana audit`: changes with their author and time. */
import { listCommand } from './list-command.ts'
import { FROM_TO, LIMIT } from './query.ts'

export const audit = listCommand({
  name: 'audit',
  summary: 'list changes, newest first: who changed what, and when',
  options: {
    ...FROM_TO,
    actor: { takes: '<name>', says: 'by this person or token' },
    action: { takes: '<action>', says: 'such as key.revoke' },
    target: { takes: '<target>', says: 'such as search/ci' },
    limit: LIMIT,
  },
  more: 'Each entry is checked against the one before it: the exit code is 1 if one is not intact.',
  examples: ['torana audit --from 7d', 'torana audit --action key.revoke --json'],
  path: '/audit',
  paging: { perPage: 500, parameter: 'before', field: 'sequence' },
  columns: {
    entry: 'sequence',
    at: 'at',
    by: 'actor',
    from: ({ address }) => address || '-',
    action: 'action',
    target: 'target',
    intact: ({ intact }: { readonly intact: boolean; readonly address: string | null }) =>
      intact ? 'yes' : 'NO',
  },
  none: 'There are no such entries.',
  exitCode: (entries) => (entries.every(({ intact }) => intact) ? 0 : 1),
})
