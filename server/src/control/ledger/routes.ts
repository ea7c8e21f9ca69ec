/** How far the ledger is sealed, exported and dropped. */
import { z } from 'zod'
import { time } from '../shared/fields.ts'
import type { ControlNode } from '../shared/node.ts'
import { route, type Api } from '../shared/route.ts'
import { isoOf } from '../shared/times.ts'

const ledgerStatus = z
  .object({
    sealed_through: time.nullable().describe('Hours before it are sealed. null: none is.'),
    export: z.enum(['on', 'off']),
    exported_through: z.string().nullable().describe('Complete days before it are files. null: none is.'),
    exported_days: z.int(),
    exported_entries: z.int(),
    exported_bytes: z.int(),
    waiting_days: z.int().describe('Complete days without files.'),
    keep_days: z.int().nullable().describe('Days that PostgreSQL keeps. null: all.'),
    kept_from: z
      .string()
      .nullable()
      .describe('Entries of days before it are in files only. null: PostgreSQL has all.'),
    problem: z
      .object({ says: z.string(), at: time })
      .nullable()
      .describe('What keeps days from being exported or dropped.'),
  })
  .meta({ id: 'LedgerStatus' })

export function registerLedger(api: Api, { lake }: Pick<ControlNode, 'lake'>): void {
  route(api, 'GET /ledger', {
    permission: 'nodes.read',
    id: 'getLedger',
    summary: 'How far the ledger is sealed, exported to files, and dropped from PostgreSQL',
    answer: ledgerStatus,
    handler: async () => {
      const { sealedThroughMs, problem, ...status } = await lake.status()
      return {
        sealed_through: sealedThroughMs === undefined ? null : isoOf(sealedThroughMs),
        export: lake.isExported ? ('on' as const) : ('off' as const),
        exported_through: status.exportedThrough ?? null,
        exported_days: status.days,
        exported_entries: Number(status.entries),
        exported_bytes: status.bytes,
        waiting_days: status.waiting,
        keep_days: lake.keepDays === 'forever' ? null : lake.keepDays,
        kept_from: status.keptFrom ?? null,
        problem: problem === undefined ? null : { says: problem.text, at: isoOf(problem.atMs) },
      }
    },
  })
}
