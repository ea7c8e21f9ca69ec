/** Keys that used a model within 30 days, from rollups. */
import { z } from 'zod'
import type { Sql } from '#stores/postgres/database.ts'
import { DAY_MS } from '#core/money/id-range.ts'
import { IS_NO_CHECK } from './request-conditions.ts'
import { answersOf } from './rows.ts'

export const modelUsers = z.object({
  keys: z
    .array(z.object({ key: z.string(), requests_30d: z.int() }))
    .describe('The busiest first, at most 20.'),
  count: z.int().describe('Of all keys that used it.'),
  requests_30d: z.int().describe('Of all these keys.'),
})

export type ModelUsers = z.output<typeof modelUsers>

/** Days in which one request makes a key a user of a model: long enough for monthly jobs. */
const USED_DAYS = 30
/** Keys that are named for a model: enough to begin asking their owners. */
const MAX_USERS = 20

/** $1 to $2: days, which are made of hours every ten minutes; from $2 on: hours. */
const USERS = `
SELECT model, key, requests_30d, count, total FROM (
  SELECT model, key_id AS key, sum(requests)::bigint AS requests_30d, count(*) OVER (PARTITION BY model) AS count,
    (sum(sum(requests)) OVER (PARTITION BY model))::bigint AS total,
    row_number() OVER (PARTITION BY model ORDER BY sum(requests) DESC, key_id) AS place
  FROM (
    SELECT model COLLATE "C" AS model, key_id COLLATE "C" AS key_id, requests FROM usage_days
    WHERE day >= ($1 AT TIME ZONE 'UTC')::date AND day < ($2 AT TIME ZONE 'UTC')::date AND model = ANY($3)
      AND ${IS_NO_CHECK} AND ($4::text[] IS NULL OR project = ANY($4))
    UNION ALL
    SELECT model, key_id, requests FROM usage_hours
    WHERE hour >= $2::timestamptz AND model = ANY($3) AND ${IS_NO_CHECK} AND ($4::text[] IS NULL OR project = ANY($4))
  ) AS rows GROUP BY model, key_id
) AS placed WHERE place <= ${MAX_USERS} ORDER BY model, place`

/** By model. A model without users is absent. `projects` undefined: all. */
export async function usersOfModels(
  sql: Sql,
  models: readonly string[],
  projects: readonly string[] | undefined,
  nowMs: number,
): Promise<ReadonlyMap<string, ModelUsers>> {
  if (models.length === 0) return new Map()
  const today = Math.floor(nowMs / DAY_MS) * DAY_MS
  const [from, fresh] = [new Date(today - USED_DAYS * DAY_MS), new Date(today - DAY_MS)]
  type User = ModelUsers['keys'][number] & Record<'count' | 'total', number> & { readonly model: string }
  const users = await answersOf<User>(sql, USERS, [from, fresh, models, projects ?? null])
  return new Map(
    [...Map.groupBy(users, ({ model }) => model)].map(([model, own]) => [
      model,
      {
        keys: own.map(({ key, requests_30d }) => ({ key, requests_30d })),
        count: own[0]?.count ?? 0,
        requests_30d: own[0]?.total ?? 0,
      },
    ]),
  )
}
