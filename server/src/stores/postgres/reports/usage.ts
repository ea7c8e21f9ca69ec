/** What was used and spent, from the rollups. */
import { BoundedMap } from '#core/bounded-map.ts'
import type { Clock } from '#ports/clock.ts'
import { labelsOf, type Tags } from '#core/labels.ts'
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
  BY_HOUR,
  COLUMN_OF,
  LABELLED_BY_DAY,
  LABELLED_BY_HOUR,
  spanValues,
  sumOf,
  type SumsRow,
} from './usage-rows.ts'
import {
  ENTRIES,
  RANKED_KEYS,
  spentByDayOf,
  TABLE_OF_KEYS,
  tableOf,
  tableOfLabel,
  TAG_KEYS,
  totalsOf,
  wholeOf,
} from './usage-sql.ts'

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
