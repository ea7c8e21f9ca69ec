/** What was used and spent, from the rollups. */
import { BoundedMap } from '#core/bounded-map.ts'
import type { Clock } from '#ports/clock.ts'
import { labelsOf, type Tags } from '#core/request/labels.ts'
import {
  isUsageLabel,
  type UsageCell,
  type UsageEntry,
  type UsageFilter,
  type UsageGroup,
  type UsageLabel,
  type UsageQuestion,
  type UsageReader,
  type UsageSpan,
  type UsageSum,
  type UsageTable,
  type UsageTotals,
} from '#ports/usage.ts'
import { reachable } from '../away.ts'
import { OTHER_TAGS, OTHER_VALUES } from '../books/label-registry.ts'
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
  LABELLED_BY_DAY,
  LABELLED_BY_HOUR,
  REST,
  spanValues,
  sumOf,
  SUMS,
  type SumsRow,
} from './usage-rows.ts'

/** `most`: how many groups are told apart. A group's place is by what it spent, then by what it asked for. */
function tableOf(by: UsageGroup, source: string, most: string): string {
  return `
WITH cells AS MATERIALIZED (
  SELECT at, ${COLUMN_OF[by]} AS name, ${SUMS} FROM (${source}) AS rows GROUP BY 1, 2
), ${RANKED}
SELECT CASE WHEN place <= ${most} THEN name END AS name, at, ${SUMS}, (SELECT count(*) FROM ranked)::integer AS groups
FROM cells JOIN ranked USING (name) GROUP BY 1, 2 ORDER BY 2`
}

const RANKED = `ranked AS MATERIALIZED (
  SELECT name, row_number() OVER (
    ORDER BY sum(amount_nano) DESC, sum(requests) DESC, sum(tokens) DESC, name
  ) AS place FROM cells WHERE name <> '' GROUP BY name
)`

/**
 * By a label, at one moment of all tables: calls without it are what the rollups of all calls have beyond those with it. $9, $10: the
 * label and its values, of which null is all; $11: how many are told apart.
 */
function tableOfLabel(labelled: string, source: string): string {
  return `
WITH cells AS MATERIALIZED (
  SELECT at, value AS name, ${SUMS} FROM (${labelled}) AS rows GROUP BY 1, 2
), ${RANKED}, named AS (
  SELECT at, ${SUMS} FROM cells GROUP BY 1
), whole AS (
  SELECT at, ${SUMS} FROM (${source}) AS rows WHERE $10 IS NULL GROUP BY 1
)
SELECT 'value' AS kind, CASE WHEN place <= $11 THEN name END AS name, at, ${SUMS},
  (SELECT count(*) FROM ranked)::integer AS groups
FROM cells JOIN ranked USING (name) GROUP BY 1, 2, 3
UNION ALL
SELECT 'overflow', NULL, at, ${COUNTED_COLUMNS}, 0 FROM cells WHERE name = '${OTHER_VALUES}'
UNION ALL
SELECT 'none', NULL, at, ${REST}, 0 FROM whole LEFT JOIN named USING (at)
ORDER BY 3`
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

function totalsOf(column: string, source: string): string {
  return `SELECT ${column} AS name, ${SUMS} FROM (${source}) AS rows GROUP BY 1`
}

function wholeOf(source: string): string {
  return `SELECT ${SUMS} FROM (${source}) AS rows`
}

function spentByDayOf(source: string): string {
  return `SELECT at, sum(amount_nano)::bigint AS nano FROM (${source}) AS rows GROUP BY 1`
}

/** Keys of tags by the row that stands for each of them. */
const TAG_KEYS = `
SELECT DISTINCT label FROM usage_labels
WHERE day >= ($1::timestamptz AT TIME ZONE 'UTC')::date AND day < ($2::timestamptz AT TIME ZONE 'UTC')::date
  AND ($3::text[] IS NULL OR project = ANY($3)) AND value = '' AND label LIKE 'tag:_%' ORDER BY 1`

/** $9 to $11: after which entry; $13 to $15: its user, or the key and values of a tag. Ids are times, so the span is one of ids. */
const ENTRIES = `
SELECT request_id, attempt, kind, call_id, project, key_id, model, deployment, usage, tokens, images, amount_nano,
  written_at, end_user, tags
FROM usage_events
WHERE request_id >= $1 AND request_id < $2 AND $3::timestamptz IS NOT NULL AND $4::timestamptz IS NOT NULL AND ${FILTER}
  AND ($9::uuid IS NULL OR (request_id, attempt, kind) > ($9, $10::smallint, $11))
  AND ($13::text[] IS NULL OR end_user = ANY($13)) AND ($14::text IS NULL OR tags ->> $14 = ANY($15::text[]))
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
  readonly end_user: string | null
  readonly tags: Tags | null
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
    if (isUsageLabel(by)) return this.#tableOfLabel(by, slot, groups, span)
    const source = sourceOf(span, slot, by)
    const rows =
      slot === 'day' && by === 'key' && span.only.key === undefined && span.labelled === undefined
        ? await this.#tableOfKeys(values, groups)
        : await this.#cells(tableOf(by, source.text, `$${9 + source.values.length}`), [
            ...values,
            ...source.values,
            groups,
          ])
    return { cells: rows.map(cellOf), groups: rows[0]?.groups ?? 0 }
  }

  async #tableOfLabel(
    by: UsageLabel,
    slot: 'hour' | 'day',
    groups: number,
    span: UsageSpan,
  ): Promise<UsageTable> {
    const labelled = sourceOf(span, slot, by)
    const { text: all } = sourceOf({ ...span, labelled: undefined }, slot)
    const values = [...spanValues(span, this.#clock.nowMs(), slot), ...labelled.values, groups]
    type Row = CellRow & { readonly kind: 'value' | 'overflow' | 'none' }
    const rows = (await this.#cells(tableOfLabel(labelled.text, all), values)) as readonly Row[]
    const cellsOf = (kind: Row['kind']): readonly UsageCell[] =>
      rows.filter((row) => row.kind === kind).map(cellOf)
    return {
      cells: cellsOf('value'),
      groups: rows.find(({ kind }) => kind === 'value')?.groups ?? 0,
      beside: { overflow: cellsOf('overflow'), none: cellsOf('none') },
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
    if (isUsageLabel(by)) return this.#totalsOfLabel(by, names, span)
    const ofNamed = { ...span, only: { ...span.only, [by]: names } }
    const [named, whole] = await Promise.all([
      this.#totals((source) => totalsOf(COLUMN_OF[by], source), ofNamed, by),
      this.#whole(span),
    ])
    return { groups: new Map(named.map((row) => [row.name, sumOf(row)])), whole }
  }

  async #totalsOfLabel(label: UsageLabel, names: readonly string[], span: UsageSpan): Promise<UsageTotals> {
    const { labelled: only, ...all } = span
    const wanted = { label, values: [...names, OTHER_VALUES] }
    const [rows, labelled, whole] = await Promise.all([
      this.#totals((source) => totalsOf('value', source), { ...all, labelled: wanted }, label),
      this.#whole(span, label),
      this.#whole(all),
    ])
    const groups = new Map(rows.map((row) => [row.name, sumOf(row)]))
    const overflow = groups.get(OTHER_VALUES)
    groups.delete(OTHER_VALUES)
    return { groups, whole: only === undefined ? whole : labelled, label: { labelled, overflow } }
  }

  #totals(
    statement: (source: string) => string,
    span: UsageSpan,
    by: UsageGroup | UsageLabel,
  ): Promise<readonly (SumsRow & { readonly name: string })[]> {
    return this.#ofSpan(statement, span, by)
  }

  async #whole(span: UsageSpan, by?: UsageLabel): Promise<UsageSum> {
    const [row] = await this.#ofSpan<SumsRow>(wholeOf, span, by)
    return sumOf(row as SumsRow)
  }

  #ofSpan<Row>(
    statement: (source: string) => string,
    span: UsageSpan,
    by?: UsageGroup | UsageLabel,
  ): Promise<readonly Row[]> {
    const slot = span.fromMs % DAY_MS === 0 && span.endMs % DAY_MS === 0 ? 'day' : 'hour'
    const source = sourceOf(span, slot, by)
    const values = [...spanValues(span, this.#clock.nowMs(), slot), ...source.values]
    return reachable(this.#database.query<Row>(statement(source.text), values))
  }

  withLeftOutTags(span: UsageSpan): Promise<UsageSum> {
    return this.#whole({ ...span, labelled: { label: OTHER_TAGS, values: [OTHER_VALUES] } })
  }

  async tagKeys({ fromMs, endMs, projects }: UsageSpan): Promise<readonly string[]> {
    const rows = await reachable(
      this.#database.query<{ label: string }>(TAG_KEYS, [
        new Date(fromMs),
        new Date(endMs),
        projects ?? null,
      ]),
    )
    return rows.map(({ label }) => label.slice(OTHER_TAGS.length))
  }

  async spentByDay(span: UsageSpan): Promise<readonly bigint[]> {
    const source = sourceOf(span, 'day')
    const values = [...spanValues(span, this.#clock.nowMs(), 'day'), ...source.values]
    const rows = await reachable(
      this.#database.query<{ at: Date; nano: bigint }>(spentByDayOf(source.text), values),
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
    const values = [...ids, from, end, ...filter, ...last, limit, ...labelValues(span.labelled)]
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
      labels: labelsOf({ user: row.end_user ?? undefined, tags: row.tags ?? undefined }),
    }))
  }
}

/** The values of $13 to $15 of the entries. */
function labelValues(labelled: UsageFilter['labelled']): unknown[] {
  if (labelled === undefined) return [null, null, null]
  const { label, values } = labelled
  return label === 'user' ? [values, null, null] : [null, label.slice(OTHER_TAGS.length), values]
}

/** Rows of rollups, and the values of the statement from $9 on. */
interface Source {
  readonly text: string
  readonly values: readonly unknown[]
}

function sourceOf(filter: UsageFilter, slot: 'hour' | 'day', by?: UsageGroup | UsageLabel): Source {
  const { labelled } = filter
  const label = labelled?.label ?? (by !== undefined && isUsageLabel(by) ? by : undefined)
  if (label !== undefined)
    return {
      text: slot === 'hour' ? LABELLED_BY_HOUR : LABELLED_BY_DAY,
      values: [label, labelled?.values ?? null],
    }
  const days = asksForKeys(filter, by) ? BY_DAY_AND_KEY : BY_DAY
  return { text: slot === 'hour' ? BY_HOUR : days, values: [] }
}

function cellOf(row: CellRow): UsageCell {
  return { group: row.name ?? undefined, atMs: row.at.getTime(), sum: sumOf(row) }
}
