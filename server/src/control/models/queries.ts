/** Figures of models for people, from rollups and, for the last hour, from a bounded part of the request log. */
import { z } from 'zod'
import type { Sql } from '#stores/postgres/database.ts'
import { DAY_MS, lowestIdAt } from '#core/money/id-range.ts'
import { IS_NO_CHECK, IS_OF_CALLERS } from '../shared/request-conditions.ts'
import { time, usd } from '../shared/fields.ts'
import { answersOf } from '../shared/rows.ts'
import { HOUR_MS } from '../shared/times.ts'

export const modelFigures = {
  last_hour: z.object({ requests: z.int(), failed: z.int(), p95_ms: z.number().nullable() }),
  last_day: z.object({ requests: z.int() }),
}

export const lastUsedAt = time.nullable().describe('Accurate to an hour.')

export const cacheUse = z.object({
  hits_share: z.number().describe('Of the newest inputs of 24 hours.'),
  saved_usd: usd.describe('What its hits of 24 hours would have cost.'),
})

/** A key that asks for a model that is gone. */
export const retiredAsker = z.object({ key: z.string(), requests_7d: z.int() })

export type ModelFigures = z.output<z.ZodObject<typeof modelFigures>>
export type CacheUse = z.output<typeof cacheUse>

export interface DeploymentUse {
  /** Calls of 24 hours that were paid for or answered. */
  readonly calls: number
  /** Null: not within 30 days. */
  readonly last_used_at: string | null
}

export interface RetiredAsker extends z.output<typeof retiredAsker> {
  readonly model: string
  /** What it asked the model to make. */
  readonly kind: 'embedding' | 'image'
}

/** Undefined: of all projects. */
type Projects = readonly string[] | undefined

/** Requests that a query reads, the newest: enough for a percentile of a busy hour, in a few milliseconds. */
const MAX_REQUESTS = 20_000

/** A 429 of an upstream is its failure; one of Torana's own limits is none. $1: lowest id; $2: projects; $3: a day ago. */
const FIGURES = `
SELECT model, coalesce(hour.requests, 0) AS "last_hour.requests", coalesce(failed, 0) AS "last_hour.failed",
  p95_ms AS "last_hour.p95_ms", coalesce(day.requests, 0)::bigint AS "last_day.requests"
FROM (
  SELECT model COLLATE "C" AS model, count(*) AS requests,
    count(*) FILTER (WHERE status >= 500 OR fault = 'upstream_rate_limited') AS failed,
    percentile_cont(0.95) WITHIN GROUP (ORDER BY duration_ms) FILTER (WHERE status < 400) AS p95_ms
  FROM (
    SELECT model, status, fault, duration_ms FROM requests
    WHERE request_id >= $1 AND ${IS_OF_CALLERS} AND ($2::text[] IS NULL OR project = ANY($2))
    ORDER BY request_id DESC LIMIT ${MAX_REQUESTS}
  ) AS newest WHERE model IS NOT NULL GROUP BY 1
) AS hour FULL JOIN (
  SELECT model, sum(requests) AS requests FROM usage_hours
  WHERE hour > $3 AND ${IS_NO_CHECK} AND ($2::text[] IS NULL OR project = ANY($2)) GROUP BY model
) AS day USING (model)`

const USES = `
SELECT deployment, coalesce(sum(posts) FILTER (WHERE hour > $2 AND ${IS_NO_CHECK}), 0)::bigint AS calls, max(hour) AS last_used_at
FROM usage_hours WHERE model = $1 AND hour > $3 AND ($4::text[] IS NULL OR project = ANY($4)) GROUP BY deployment`

/** $2: lowest id; $3: the same time; $4: projects. */
const CACHE_USE = `
SELECT coalesce(sum(hits)::float8 / nullif(sum(inputs), 0), 0) AS hits_share, (
    SELECT coalesce(sum(saved_nano), 0)::bigint FROM usage_hours
    WHERE model = $1 AND hour > $3 AND ($4::text[] IS NULL OR project = ANY($4))
  ) AS saved_nano
FROM (
  SELECT model, hits, inputs FROM requests
  WHERE request_id >= $2 AND ($4::text[] IS NULL OR project = ANY($4))
  ORDER BY request_id DESC LIMIT ${MAX_REQUESTS}
) AS newest WHERE model = $1`

const RETIRED_ASKERS = `
SELECT model, key_id AS key, count(*) AS requests_7d,
  CASE WHEN bool_or(route LIKE '%/images/%') THEN 'image' ELSE 'embedding' END AS kind
FROM (
  SELECT model, key_id, route FROM requests
  WHERE request_id >= $1 AND status >= 400 AND fault = 'model_retired' AND ($2::text[] IS NULL OR project = ANY($2))
  ORDER BY request_id DESC LIMIT ${MAX_REQUESTS}
) AS newest WHERE model IS NOT NULL AND key_id IS NOT NULL GROUP BY 1, 2 ORDER BY 3 DESC, 2`

const KEY_MODELS = `
SELECT DISTINCT models FROM keys
WHERE project = ANY($1) AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > $2)`

/** By model. A model without requests is absent. */
export async function figuresByModel(
  sql: Sql,
  projects: Projects,
  nowMs: number,
): Promise<ReadonlyMap<string, ModelFigures>> {
  const values = [lowestIdAt(nowMs - HOUR_MS), projects ?? null, new Date(nowMs - DAY_MS)]
  const rows = await answersOf<ModelFigures & { model: string }>(sql, FIGURES, values)
  return new Map(rows.map(({ model, ...figures }) => [model, figures]))
}

/** By deployment, of one model. */
export async function usesOfModel(
  sql: Sql,
  model: string,
  projects: Projects,
  nowMs: number,
): Promise<ReadonlyMap<string, DeploymentUse>> {
  const values = [model, new Date(nowMs - DAY_MS), new Date(nowMs - 30 * DAY_MS), projects ?? null]
  const rows = await answersOf<DeploymentUse & { deployment: string }>(sql, USES, values)
  return new Map(rows.map(({ deployment, ...use }) => [deployment, use]))
}

export async function cacheUseOf(
  sql: Sql,
  model: string,
  projects: Projects,
  nowMs: number,
): Promise<CacheUse> {
  const sinceMs = nowMs - DAY_MS
  const values = [model, lowestIdAt(sinceMs), new Date(sinceMs), projects ?? null]
  const [use] = await answersOf<CacheUse>(sql, CACHE_USE, values)
  if (use === undefined) throw new Error('a sum without a row')
  return use
}

/** Keys that asked within seven days for models whose provider shut them down, the busiest first. */
export function listRetiredAskers(sql: Sql, projects: Projects, nowMs: number) {
  return answersOf<RetiredAsker>(sql, RETIRED_ASKERS, [lowestIdAt(nowMs - 7 * DAY_MS), projects ?? null])
}

/** The models of each valid key of these projects. Null: the key may use all. */
export async function modelsOfKeys(sql: Sql, projects: readonly string[], nowMs: number) {
  const rows = await sql.query<{ models: readonly string[] | null }>(KEY_MODELS, [projects, new Date(nowMs)])
  return rows.map(({ models }) => models)
}
