/** Notices about models that end, from the record that keeps each of them from being sent twice. */
import type { Sql } from '#stores/postgres/database.ts'
import { answersOf } from '../shared/rows.ts'

export interface SentNotice {
  readonly upstream: string
  readonly model: string
  readonly ends_on: string
  readonly days: number
  readonly sent_at: string
}

const NOTICES = `
SELECT upstream, model, ends_on, days, sent_at FROM model_end_notices WHERE model = ANY($1) ORDER BY sent_at`

export function noticesOf(sql: Sql, models: readonly string[]): Promise<SentNotice[]> {
  return answersOf(sql, NOTICES, [models])
}
