/** What deployments answered with, where it was another model than asked for. */
import { z } from 'zod'
import type { Sql } from '#stores/postgres/database.ts'
import { time } from '../shared/fields.ts'
import { answersOf } from '../shared/rows.ts'
import { DAY_MS } from '../shared/times.ts'

export const substitution = z.object({
  asked: z.string().describe('The upstream’s name of the model that was asked for.'),
  answered: z.string().describe('The name in its answers. `other`: several, or no name of a model.'),
  answers: z.int(),
  first_at: time,
  last_at: time,
})

type Substitution = z.output<typeof substitution>

/** Days for which a substitution is shown after its last answer. */
const SHOWN_DAYS = 30
/** Rows that are shown: a few of every deployment of a large catalog. */
const MAX_ROWS = 500

const SUBSTITUTIONS = `
SELECT deployment, asked, answered, answers, first_at, last_at FROM substitutions
WHERE last_at > $1 ORDER BY last_at DESC, deployment, answered LIMIT ${MAX_ROWS}`

/** By deployment, the latest first. */
export async function substitutionsByDeployment(
  sql: Sql,
  nowMs: number,
): Promise<ReadonlyMap<string, readonly Substitution[]>> {
  const since = new Date(nowMs - SHOWN_DAYS * DAY_MS)
  const rows = await answersOf<Substitution & { deployment: string }>(sql, SUBSTITUTIONS, [since])
  const byDeployment = Map.groupBy(rows, ({ deployment }) => deployment)
  return new Map(
    [...byDeployment].map(([id, own]) => [id, own.map(({ deployment: _deployment, ...row }) => row)]),
  )
}
