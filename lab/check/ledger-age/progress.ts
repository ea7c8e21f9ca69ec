/** How far the node has come, read from outside. */
import type { Client } from 'pg'
import { withDatabase } from '../../chaos/ledger-checks.ts'
import { DAY_MS } from './formula.ts'
import { dayText } from './generate.ts'

export const DONE = 'at rest'

export interface Progress {
  readonly isSealed: boolean
  /** What the node is doing, for that day. */
  readonly phase: 'sealing an hour' | 'between two hours' | 'exporting' | typeof DONE
}

const PROGRESS = `
SELECT days_through > $1::date AS is_sealed, sealing IS NOT NULL AS is_sealing,
  EXISTS (SELECT FROM ledger_exports WHERE day = $1::date) AS is_exported FROM ledger_seal`

/** One connection a question: PostgreSQL may have died since the last one. */
export function progressOf(databaseUrl: string, dayMs: number): Promise<Progress> {
  return withDatabase(databaseUrl, async (client) => {
    const { rows } = await client.query<{ is_sealed: boolean; is_sealing: boolean; is_exported: boolean }>(
      PROGRESS,
      [dayText(dayMs)],
    )
    const { is_sealed: isSealed, is_sealing: isSealing, is_exported: isExported } = rows[0] ?? {}
    const phase = isExported
      ? DONE
      : isSealed
        ? 'exporting'
        : isSealing
          ? 'sealing an hour'
          : 'between two hours'
    return { isSealed: isSealed === true, phase }
  })
}

/** Days of the age whose entries are in PostgreSQL. The catalogue tells it without a lock. */
export async function hotDays(client: Client, firstDayMs: number, days: number): Promise<readonly number[]> {
  const { rows } = await client.query<{ name: string }>(
    `SELECT relname::text AS name FROM pg_class WHERE relkind = 'r' AND relispartition AND relname LIKE 'usage\\_events\\_%'`,
  )
  const names = new Set(rows.map(({ name }) => name))
  return Array.from({ length: days }, (_, day) => day).filter((day) =>
    names.has(`usage_events_${dayText(firstDayMs + day * DAY_MS).replaceAll('-', '_')}`),
  )
}

/** Unknowns that the worker has still to post: written before that moment. */
export async function overdueUnknowns(client: Client, before: Date): Promise<number> {
  const { rows } = await client.query<{ count: number }>(
    `SELECT count(*)::integer AS count FROM usage_events AS entry
     WHERE kind = 'unknown' AND written_at < $1 AND NOT EXISTS (
       SELECT FROM usage_events AS resolution
       WHERE resolution.request_id = entry.request_id AND resolution.attempt = entry.attempt
         AND resolution.kind IN ('post', 'void'))`,
    [before],
  )
  return rows[0]?.count ?? 0
}

/** Late entries of a day that are in its files. */
export async function exportedCorrections(client: Client, dayMs: number): Promise<number> {
  const { rows } = await client.query<{ count: number }>(
    `SELECT count(*)::integer AS count FROM ledger_corrections
     WHERE hour >= $1 AND hour < $2 AND manifest IS NOT NULL`,
    [new Date(dayMs), new Date(dayMs + DAY_MS)],
  )
  return rows[0]?.count ?? 0
}
