/** Figures of models for people, from rollups and, for the last hour, from a bounded part of the request log. */
import type { Clock } from '#ports/clock.ts'
import {
  MOST_USERS,
  type CacheUse,
  type DeploymentUse,
  type ModelFigure,
  type ModelFigures,
  type ModelUsers,
  type Projects,
  type RetiredAsker,
  type SpacePin,
} from '#ports/model-figures.ts'
import { reachable } from '../away.ts'
import { IS_OF_CALLERS } from './request-conditions.ts'
import { DAY_MS, lowestIdAt } from '../books/upkeep-ids.ts'
import type { Database } from '../database.ts'

const HOUR_MS = 3_600_000
/** Within them a key counts as a user of a model: long enough for monthly jobs. */
const USED_DAYS = 30
/** Of a busy hour the newest are enough for a percentile, and take a few milliseconds. */
const MOST_REQUESTS = 20_000

/** A 429 of an upstream is its failure; one of Torana's own limits is none. */
const LAST_HOUR = `
SELECT model, count(*)::int AS requests,
  (count(*) FILTER (WHERE status >= 500 OR fault = 'upstream_rate_limited'))::int AS failed,
  percentile_cont(0.95) WITHIN GROUP (ORDER BY duration_ms) FILTER (WHERE status < 400) AS p95_ms
FROM (
  SELECT model, status, fault, duration_ms FROM requests
  WHERE request_id >= $1 AND ${IS_OF_CALLERS} AND ($2::text[] IS NULL OR project = ANY($2))
  ORDER BY request_id DESC LIMIT ${MOST_REQUESTS}
) AS newest
WHERE model IS NOT NULL GROUP BY model`

const LAST_DAY = `
SELECT model, sum(requests)::bigint AS requests FROM usage_hours
WHERE hour > $1 AND ($2::text[] IS NULL OR project = ANY($2)) GROUP BY model`

const USES = `
SELECT deployment, coalesce(sum(posts) FILTER (WHERE hour > $2), 0)::bigint AS calls, max(hour) AS last_hour
FROM usage_hours WHERE model = $1 AND hour > $3 AND ($4::text[] IS NULL OR project = ANY($4)) GROUP BY deployment`

const HITS = `
SELECT coalesce(sum(hits), 0)::bigint AS hits, coalesce(sum(inputs), 0)::bigint AS inputs
FROM (
  SELECT model, hits, inputs FROM requests
  WHERE request_id >= $2 AND ($3::text[] IS NULL OR project = ANY($3))
  ORDER BY request_id DESC LIMIT ${MOST_REQUESTS}
) AS newest WHERE model = $1`

const SAVED = `
SELECT coalesce(sum(saved_nano), 0)::bigint AS saved FROM usage_hours
WHERE model = $1 AND hour > $2 AND ($3::text[] IS NULL OR project = ANY($3))`

const ASKED_RETIRED = `
SELECT model, key_id, count(*)::int AS requests, bool_or(route LIKE '%/images/%') AS is_image FROM (
  SELECT model, key_id, route FROM requests
  WHERE request_id >= $1 AND status >= 400 AND fault = 'model_retired' AND ($2::text[] IS NULL OR project = ANY($2))
  ORDER BY request_id DESC LIMIT ${MOST_REQUESTS}
) AS newest WHERE model IS NOT NULL AND key_id IS NOT NULL GROUP BY 1, 2 ORDER BY 3 DESC, 2`

/** $1 to $2: days, which are made of hours every ten minutes; from $2 on: hours. */
const USERS = `
SELECT model, key_id, requests, keys FROM (
  SELECT model, key_id, sum(requests)::bigint AS requests, (count(*) OVER (PARTITION BY model))::int AS keys,
    row_number() OVER (PARTITION BY model ORDER BY sum(requests) DESC, key_id) AS place
  FROM (
    SELECT model COLLATE "C" AS model, key_id COLLATE "C" AS key_id, requests FROM usage_days
    WHERE day >= ($1 AT TIME ZONE 'UTC')::date AND day < ($2 AT TIME ZONE 'UTC')::date AND model = ANY($3)
      AND ($4::text[] IS NULL OR project = ANY($4))
    UNION ALL
    SELECT model, key_id, requests FROM usage_hours
    WHERE hour >= $2::timestamptz AND model = ANY($3) AND ($4::text[] IS NULL OR project = ANY($4))
  ) AS rows GROUP BY model, key_id
) AS placed WHERE place <= ${MOST_USERS} ORDER BY model, place`

/** Read from their index alone, in some tens of milliseconds. */
const MOST_PINNED = 100_000

const PINS = `
SELECT pinned_space AS space, key_id AS key, count(*)::int AS requests FROM (
  SELECT pinned_space, key_id FROM requests
  WHERE request_id >= $1 AND pinned_space IS NOT NULL ORDER BY request_id DESC LIMIT ${MOST_PINNED}
) AS newest WHERE key_id IS NOT NULL GROUP BY 1, 2 ORDER BY 3 DESC, 2, 1`

const KEY_MODELS = `
SELECT DISTINCT models FROM keys
WHERE project = ANY($1) AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > $2)`

export class PostgresModelFigures implements ModelFigures {
  readonly #database: Database
  readonly #clock: Clock

  constructor(database: Database, clock: Clock) {
    this.#database = database
    this.#clock = clock
  }

  async figures(projects: Projects): Promise<ReadonlyMap<string, ModelFigure>> {
    const nowMs = this.#clock.nowMs()
    const [hour, day] = await Promise.all([
      this.#read<HourRow>(LAST_HOUR, [lowestIdAt(nowMs - HOUR_MS), projects ?? null]),
      this.#read<{ model: string; requests: bigint }>(LAST_DAY, [new Date(nowMs - DAY_MS), projects ?? null]),
    ])
    const models = new Set([...hour, ...day].map(({ model }) => model))
    const hours = new Map(hour.map((row) => [row.model, row]))
    const days = new Map(day.map((row) => [row.model, Number(row.requests)]))
    return new Map(
      [...models].map((model) => [
        model,
        {
          lastHour: hourOf(hours.get(model)),
          lastDay: { requests: days.get(model) ?? 0 },
        },
      ]),
    )
  }

  async uses(model: string, projects: Projects): Promise<ReadonlyMap<string, DeploymentUse>> {
    const nowMs = this.#clock.nowMs()
    const rows = await this.#read<UseRow>(USES, [
      model,
      new Date(nowMs - DAY_MS),
      new Date(nowMs - 30 * DAY_MS),
      projects ?? null,
    ])
    return new Map(
      rows.map(({ deployment, calls, last_hour: lastHour }) => [
        deployment,
        { calls: Number(calls), lastUsedAtMs: lastHour?.getTime() },
      ]),
    )
  }

  async cacheUse(model: string, projects: Projects): Promise<CacheUse> {
    const sinceMs = this.#clock.nowMs() - DAY_MS
    const asked = projects ?? null
    const [[inputs], [money]] = await Promise.all([
      this.#read<{ hits: bigint; inputs: bigint }>(HITS, [model, lowestIdAt(sinceMs), asked]),
      this.#read<{ saved: bigint }>(SAVED, [model, new Date(sinceMs), asked]),
    ])
    const all = Number(inputs?.inputs ?? 0n)
    return {
      hitsShare: all === 0 ? 0 : Number(inputs?.hits ?? 0n) / all,
      savedNanoUsd: money?.saved ?? 0n,
    }
  }

  async askedRetired(projects: Projects): Promise<ReadonlyMap<string, readonly RetiredAsker[]>> {
    const since = lowestIdAt(this.#clock.nowMs() - 7 * DAY_MS)
    const rows = await this.#read<AskerRow>(ASKED_RETIRED, [since, projects ?? null])
    const byModel = Map.groupBy(rows, ({ model }) => model)
    return new Map(
      [...byModel].map(([model, own]) => [
        model,
        own.map(({ key_id: key, requests, is_image: isImage }) => ({
          key,
          requests,
          kind: isImage ? 'image' : 'embedding',
        })),
      ]),
    )
  }

  async users(models: readonly string[], projects: Projects): Promise<ReadonlyMap<string, ModelUsers>> {
    if (models.length === 0) return new Map()
    const today = Math.floor(this.#clock.nowMs() / DAY_MS) * DAY_MS
    const [from, fresh] = [new Date(today - USED_DAYS * DAY_MS), new Date(today - DAY_MS)]
    const rows = await this.#read<UserRow>(USERS, [from, fresh, models, projects ?? null])
    return new Map(
      [...Map.groupBy(rows, ({ model }) => model)].map(([model, own]) => [
        model,
        {
          keys: own.map(({ key_id: key, requests }) => ({ key, requests: Number(requests) })),
          count: own[0]?.keys ?? 0,
        },
      ]),
    )
  }

  pins(): Promise<readonly SpacePin[]> {
    return this.#read<SpacePin>(PINS, [lowestIdAt(this.#clock.nowMs() - DAY_MS)])
  }

  async keyModels(projects: readonly string[]): Promise<readonly (readonly string[] | undefined)[]> {
    const rows = await this.#read<{ models: readonly string[] | null }>(KEY_MODELS, [
      projects,
      new Date(this.#clock.nowMs()),
    ])
    return rows.map(({ models }) => models ?? undefined)
  }

  #read<Row>(text: string, values: readonly unknown[]): Promise<readonly Row[]> {
    return reachable(this.#database.query<Row>(text, values))
  }
}

interface HourRow {
  readonly model: string
  readonly requests: number
  readonly failed: number
  readonly p95_ms: number | null
}

interface AskerRow {
  readonly model: string
  readonly key_id: string
  readonly requests: number
  readonly is_image: boolean
}

interface UserRow {
  readonly model: string
  readonly key_id: string
  readonly requests: bigint
  readonly keys: number
}

interface UseRow {
  readonly deployment: string
  readonly calls: bigint
  readonly last_hour: Date | null
}

function hourOf(row: HourRow | undefined): ModelFigure['lastHour'] {
  return { requests: row?.requests ?? 0, failed: row?.failed ?? 0, p95Ms: row?.p95_ms ?? undefined }
}
