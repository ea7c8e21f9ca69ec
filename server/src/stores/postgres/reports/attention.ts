import {
  NEWEST_REQUESTS,
  type AttentionFigures,
  type KeyFigure,
  type NewestRequests,
  type RefusalFigure,
  type SpentFigure,
  type WebhookFigure,
} from '#ports/attention-figures.ts'
import type { Clock } from '#ports/clock.ts'
import { textArray } from '../arrays.ts'
import { reachable } from '../away.ts'
import { IS_OF_CALLERS } from './request-conditions.ts'
import { lowestIdAt } from '../books/upkeep-ids.ts'
import type { Database } from '../database.ts'

const DAY_MS = 86_400_000
/** As the hygiene list of keys has them. */
const IDLE_DAYS = 90
const ENDS_DAYS = 14
/** More than anybody reads in a list of what needs attention. */
const MOST_KEYS = 20
/** Rows that are looked at: beyond them, how many more there are makes no difference. */
const MOST_REFUSALS = 20_000

const REFUSALS = `
SELECT fault, model, count(*)::integer AS requests, min(request_id::text) AS first, array_agg(DISTINCT project) AS projects
FROM (
  SELECT request_id, fault, model, project FROM requests
  WHERE status >= 400 AND request_id >= $1 AND fault IN ('model_unpriced', 'model_retired')
  ORDER BY request_id DESC LIMIT ${MOST_REFUSALS}
) AS late GROUP BY fault, model ORDER BY requests DESC LIMIT 20`

const NEWEST_MS = 15 * 60_000

const NEWEST = `
SELECT CASE WHEN status >= 500 THEN coalesce(fault, 'status ' || status) END AS fault, count(*)::integer AS requests
FROM (
  SELECT status, fault FROM requests WHERE request_id >= $1 AND ${IS_OF_CALLERS} ORDER BY request_id DESC LIMIT ${NEWEST_REQUESTS}
) AS newest GROUP BY 1 ORDER BY requests DESC, fault`

const KEYS = `
SELECT key_id, keys.project, CASE WHEN expires_at < $2 THEN 'ends' ELSE 'idle' END AS kind,
  CASE WHEN expires_at < $2 THEN expires_at ELSE last_used_at END AS at, expires_at
FROM keys JOIN projects ON projects.project = keys.project AND projects.deleted_at IS NULL
WHERE revoked_at IS NULL AND (expires_at IS NULL OR expires_at > $3) AND (expires_at < $2 OR last_used_at < $1)
ORDER BY expires_at < $2 DESC NULLS LAST, at LIMIT ${MOST_KEYS}`

const GIVEN_UP = `
SELECT project, count(*)::integer AS events, max(ended_at) AS last FROM webhook_events
WHERE outcome = 'given-up' AND ended_at > $1 GROUP BY project ORDER BY project`

const SPENT = `
SELECT coalesce(sum(amount_nano), 0)::bigint AS spent, coalesce(sum(saved_nano), 0)::bigint AS saved FROM usage_hours
WHERE hour >= $1 AND ($2::text[] IS NULL OR project = ANY($2))`

export class PostgresAttentionFigures implements AttentionFigures {
  readonly #database: Database
  readonly #clock: Clock

  constructor(database: Database, clock: Clock) {
    this.#database = database
    this.#clock = clock
  }

  async refusals(): Promise<readonly RefusalFigure[]> {
    interface Row {
      readonly fault: RefusalFigure['fault']
      readonly model: string | null
      readonly requests: number
      readonly first: string
      readonly projects: readonly (string | null)[]
    }
    const rows = await this.#ask<Row>(REFUSALS, [lowestIdAt(this.#clock.nowMs() - DAY_MS)])
    return rows.map(({ fault, model, requests, first, projects }) => ({
      fault,
      model: model ?? undefined,
      requests,
      firstAtMs: Number.parseInt(first.replaceAll('-', '').slice(0, 12), 16),
      projects: projects.flatMap((project) => project ?? []),
    }))
  }

  async newest(): Promise<NewestRequests> {
    const since = lowestIdAt(this.#clock.nowMs() - NEWEST_MS)
    const rows = await this.#ask<{ fault: string | null; requests: number }>(NEWEST, [since])
    return {
      requests: rows.reduce((sum, { requests }) => sum + requests, 0),
      failures: rows.flatMap(({ fault, requests }) => (fault === null ? [] : [{ fault, requests }])),
    }
  }

  async keys(): Promise<readonly KeyFigure[]> {
    interface Row {
      readonly key_id: string
      readonly project: string
      readonly kind: KeyFigure['kind']
      readonly at: Date
      readonly expires_at: Date | null
    }
    const nowMs = this.#clock.nowMs()
    const moments = [-IDLE_DAYS, ENDS_DAYS, 0].map((days) => new Date(nowMs + days * DAY_MS))
    const rows = await this.#ask<Row>(KEYS, moments)
    return rows.map((row) => ({
      key: row.key_id,
      project: row.project,
      kind: row.kind,
      atMs: row.at.getTime(),
      expiresAtMs: row.expires_at?.getTime(),
    }))
  }

  async webhooksGivenUp(): Promise<readonly WebhookFigure[]> {
    const since = new Date(this.#clock.nowMs() - 7 * DAY_MS)
    const rows = await this.#ask<{ project: string; events: number; last: Date }>(GIVEN_UP, [since])
    return rows.map(({ project, events, last }) => ({ project, events, lastAtMs: last.getTime() }))
  }

  async spentSince(fromMs: number, projects: readonly string[] | undefined): Promise<SpentFigure> {
    const seen = projects === undefined ? null : textArray(projects)
    const [row] = await this.#ask<{ spent: bigint; saved: bigint }>(SPENT, [new Date(fromMs), seen])
    return { spentNanoUsd: row?.spent ?? 0n, savedNanoUsd: row?.saved ?? 0n }
  }

  #ask<Row>(text: string, values: readonly unknown[]): Promise<readonly Row[]> {
    return reachable(this.#database.query<Row>(text, values))
  }
}
