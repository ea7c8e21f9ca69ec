/** What was used and spent, from the rollups. */
import { BoundedMap } from '#core/bounded-map.ts'
import type { Clock } from '#ports/clock.ts'
import type {
  UsageEntry,
  UsageFilter,
  UsageGroup,
  UsageQuestion,
  UsageReader,
  UsageSpan,
  UsageTable,
  UsageTotals,
} from '#ports/usage.ts'
import { reachable } from '../away.ts'
import { DAY_MS, lowestIdAt } from '../books/upkeep-ids.ts'
import type { Database } from '../database.ts'
import {
  asksForKeys,
  BY_DAY,
  BY_DAY_AND_KEY,
  BY_DAY_OF_KEYS,
  BY_HOUR,
  COLUMN_OF,
  COUNTED_COLUMNS,
  FILTER,
  KEY_SUMS,
  REST,
  spanValues,
  sumOf,
  SUMS,
  type SumsRow,
} from './usage-rows.ts'

/** $9: how many groups are told apart. A group's place is by what it spent, then by what it asked for. */
function tableOf(by: UsageGroup, source: string): string {
  return `
WITH cells AS MATERIALIZED (
  SELECT at, ${COLUMN_OF[by]} AS name, ${SUMS} FROM (${source}) AS rows GROUP BY 1, 2
), ranked AS MATERIALIZED (
  SELECT name, row_number() OVER (
    ORDER BY sum(amount_nano) DESC, sum(requests) DESC, sum(tokens) DESC, name
  ) AS place FROM cells GROUP BY name
)
SELECT CASE WHEN place <= $9 THEN name END AS name, at, ${SUMS}, (SELECT count(*) FROM ranked)::integer AS groups
FROM cells JOIN ranked USING (name) GROUP BY 1, 2 ORDER BY 2`
}

/** $9: how many keys are told apart. */
const RANKED_KEYS = `
SELECT name, (count(*) OVER ())::integer AS groups FROM (
  SELECT name, sum(amount_nano) AS amount_nano, sum(requests) AS requests, sum(tokens) AS tokens
  FROM (${KEY_SUMS}) AS rows GROUP BY 1
) AS sums ORDER BY amount_nano DESC, requests DESC, tokens DESC, name LIMIT $9`

/**
 * The table for keys, of which there may be ten thousand: the whole is taken from the days without keys, so that only those are
 * added up day by day that are told apart. $9: their names; $10: how many keys there are.
 */
const TABLE_OF_KEYS = `
WITH cells AS MATERIALIZED (
  SELECT key_id AS name, at, ${SUMS} FROM (${BY_DAY_OF_KEYS}) AS rows GROUP BY 1, 2
), named AS (
  SELECT at, ${SUMS} FROM cells GROUP BY 1
), whole AS (
  SELECT at, ${SUMS} FROM (${BY_DAY}) AS rows GROUP BY 1
)
SELECT name, at, ${COUNTED_COLUMNS}, $10::integer AS groups FROM cells
UNION ALL
SELECT NULL, at, ${REST}, $10 FROM whole LEFT JOIN named USING (at) WHERE $10 > cardinality($9)
ORDER BY 2`

interface RankedKeys {
  readonly names: readonly string[]
  /** How many keys there are in all. */
  readonly groups: number
}

/**
 * For so long a node remembers which keys of many are told apart: to find that out, PostgreSQL adds up every key, and a page asks
 * the same question each time somebody comes back to it. The sums themselves are always new.
 */
const RANKING_KEPT_MS = 60_000
/** Of questions: some people with some spans and filters each. */
const MOST_RANKINGS = 100

function totalsOf(by: UsageGroup, source: string): string {
  return `SELECT ${COLUMN_OF[by]} AS name, ${SUMS} FROM (${source}) AS rows GROUP BY 1`
}

function wholeOf(source: string): string {
  return `SELECT ${SUMS} FROM (${source}) AS rows`
}

function spentByDayOf(source: string): string {
  return `SELECT at, sum(amount_nano)::bigint AS nano FROM (${source}) AS rows GROUP BY 1`
}

/** $9 to $11: after which entry. Ids are times, so the span is one of ids. */
const ENTRIES = `
SELECT request_id, attempt, kind, call_id, project, key_id, model, deployment, usage, tokens, images, amount_nano,
  written_at
FROM usage_events
WHERE request_id >= $1 AND request_id < $2 AND $3::timestamptz IS NOT NULL AND $4::timestamptz IS NOT NULL AND ${FILTER}
  AND ($9::uuid IS NULL OR (request_id, attempt, kind) > ($9, $10::smallint, $11))
ORDER BY request_id, attempt, kind LIMIT $12`

type CellRow = SumsRow & { readonly name: string | null; readonly at: Date; readonly groups: number }

interface EntryRow {
  readonly request_id: string
  readonly attempt: number
  readonly kind: UsageEntry['kind']
  readonly call_id: string
  readonly project: string
  readonly key_id: string
  readonly model: string
  readonly deployment: string
  readonly usage: UsageEntry['usage']
  readonly tokens: bigint | null
  readonly images: number
  readonly amount_nano: bigint | null
  readonly written_at: Date
}

export class PostgresUsage implements UsageReader {
  readonly #database: Database
  readonly #clock: Clock
  readonly #rankings = new BoundedMap<string, RankedKeys & { readonly untilMs: number }>(MOST_RANKINGS)

  constructor(database: Database, clock: Clock) {
    this.#database = database
    this.#clock = clock
  }

  async table({ by, slot, groups, ...span }: UsageQuestion): Promise<UsageTable> {
    const values = spanValues(span, this.#clock.nowMs(), slot)
    const rows =
      slot === 'day' && by === 'key' && span.only.key === undefined
        ? await this.#tableOfKeys(values, groups)
        : await this.#cells(tableOf(by, slot === 'hour' ? BY_HOUR : daysFor(span, by)), [...values, groups])
    return {
      cells: rows.map((row) => ({
        group: row.name ?? undefined,
        atMs: row.at.getTime(),
        sum: sumOf(row),
      })),
      groups: rows[0]?.groups ?? 0,
    }
  }

  #cells(statement: string, values: unknown[]): Promise<readonly CellRow[]> {
    return reachable(this.#database.query<CellRow>(statement, values))
  }

  async #tableOfKeys(values: unknown[], most: number): Promise<readonly CellRow[]> {
    const { names, groups } = await this.#rankedKeys([...values, most], most)
    return this.#cells(TABLE_OF_KEYS, [...values, names, groups])
  }

  async #rankedKeys(values: unknown[], most: number): Promise<RankedKeys> {
    const question = JSON.stringify(values)
    const nowMs = this.#clock.nowMs()
    const known = this.#rankings.get(question)
    if (known && known.untilMs > nowMs) return known
    const rows = await reachable(this.#database.query<{ name: string; groups: number }>(RANKED_KEYS, values))
    const ranked = { names: rows.map(({ name }) => name), groups: rows[0]?.groups ?? 0 }
    // Where all keys are told apart, a new one has its own line at once.
    if (ranked.groups > most) this.#rankings.set(question, { ...ranked, untilMs: nowMs + RANKING_KEPT_MS })
    return ranked
  }

  async totals({ by, names, ...span }: Parameters<UsageReader['totals']>[0]): Promise<UsageTotals> {
    const slot = span.fromMs % DAY_MS === 0 && span.endMs % DAY_MS === 0 ? 'day' : 'hour'
    const { nowMs } = this.#clock
    const ofNamed = { ...span, only: { ...span.only, [by]: names } }
    const statement = (text: (source: string) => string, filter: UsageFilter, group?: UsageGroup): string =>
      text(slot === 'hour' ? BY_HOUR : daysFor(filter, group))
    const [named, [whole]] = await Promise.all([
      reachable(
        this.#database.query<SumsRow & { name: string }>(
          statement((source) => totalsOf(by, source), ofNamed, by),
          spanValues(ofNamed, nowMs(), slot),
        ),
      ),
      reachable(this.#database.query<SumsRow>(statement(wholeOf, span), spanValues(span, nowMs(), slot))),
    ])
    return {
      groups: new Map(named.map((row) => [row.name, sumOf(row)])),
      whole: sumOf(whole as SumsRow),
    }
  }

  async spentByDay(span: UsageSpan): Promise<readonly bigint[]> {
    const values = spanValues(span, this.#clock.nowMs(), 'day')
    const rows = await reachable(
      this.#database.query<{ at: Date; nano: bigint }>(spentByDayOf(daysFor(span)), values),
    )
    const byDay = new Map(rows.map(({ at, nano }) => [at.getTime(), nano]))
    const days = Math.round((span.endMs - span.fromMs) / DAY_MS)
    return Array.from({ length: days }, (_, index) => byDay.get(span.fromMs + index * DAY_MS) ?? 0n)
  }

  async entries(
    span: UsageSpan,
    { limit, after }: Parameters<UsageReader['entries']>[1],
  ): Promise<readonly UsageEntry[]> {
    const [, , from, end, ...filter] = spanValues(span, this.#clock.nowMs(), 'hour')
    const ids = [lowestIdAt(span.fromMs), lowestIdAt(span.endMs)]
    const last = [after?.requestId ?? null, after?.attempt ?? null, after?.kind ?? null]
    const values = [...ids, from, end, ...filter, ...last, limit]
    const rows = await reachable(this.#database.query<EntryRow>(ENTRIES, values))
    return rows.map((row) => ({
      requestId: row.request_id,
      attempt: row.attempt,
      kind: row.kind,
      callId: row.call_id,
      project: row.project,
      keyId: row.key_id,
      model: row.model,
      deployment: row.deployment,
      usage: row.usage,
      tokens: row.tokens === null ? undefined : Number(row.tokens),
      images: row.images,
      amountNanoUsd: row.amount_nano ?? undefined,
      writtenAtMs: row.written_at.getTime(),
    }))
  }
}

function daysFor(filter: UsageFilter, by?: UsageGroup): string {
  return asksForKeys(filter, by) ? BY_DAY_AND_KEY : BY_DAY
}
