/** The audit in the log, for a collector: one line for each entry, from the node that committed it. */
import { entryFields } from '#core/audit/entry-fields.ts'
import type { CommittedEntry } from '#ports/audit.ts'
import type { Log } from './log.ts'

export function auditLines(log: Pick<Log, 'info'>): (entry: CommittedEntry) => void {
  return (entry) =>
    log.info(
      {
        event: 'audit',
        ...entryFields(entry, new Date(entry.atMs).toISOString()),
        previous_hash: entry.previousHash ?? null,
      },
      'audit entry',
    )
}
