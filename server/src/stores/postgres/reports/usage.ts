/** What was used and spent, from the rollups. */
import type { Clock } from '#ports/clock.ts'
import type {
  UsageEntry,
  UsageGroup,
  UsageQuestion,
  UsageReader,
  UsageSpan,
  UsageSum,
  UsageTable,
} from '#ports/usage.ts'
import { reachable } from '../away.ts'
import { DAY_MS, lowestIdAt } from '../books/upkeep-ids.ts'
import type { Database } from '../database.ts'
import { BY_DAY, BY_HOUR, COLUMN_OF, FILTER, spanValues, sumOf, SUMS, type SumsRow } from './usage-rows.ts'

/** $9: how many groups are told apart. A group's place is by what it spent, then by what it asked for. */
function tableOf(by: UsageGroup, slot: 'hour' | 'day'): string {
  return `
WITH cells AS MATERIALIZED (
  SELECT at, ${COLUMN_OF[by]} AS name, ${SUMS} FROM (${slot === 'day' ? BY_DAY : BY_HOUR}) AS rows GROUP BY 1, 2
), ranked AS MATERIALIZED (
  SELECT name, row_number() OVER (
    ORDER BY sum(amount_nano) DESC, sum(requests) DESC, sum(tokens) DESC, name
  ) AS place FROM cells GROUP BY name
)
SELECT CASE WHEN place <= $9 THEN name END AS name, at, ${SUMS}, (SELECT count(*) FROM ranked)::integer AS groups
FROM cells JOIN ranked USING (name) GROUP BY 1, 2 ORDER BY 2`
}

/** $9: the groups that are told apart. */
function totalsOf(by: UsageGroup): string {
  const name = `CASE WHEN ${COLUMN_OF[by]} = ANY($9::text[]) THEN ${COLUMN_OF[by]} END`
  return `SELECT ${name} AS name, ${SUMS} FROM (${BY_DAY}) AS rows GROUP BY 1`
}

const SPENT_BY_DAY = `SELECT at, sum(amount_nano)::bigint AS nano FROM (${BY_DAY}) AS rows GROUP BY 1`

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

  constructor(database: Database, clock: Clock) {
    this.#database = database
    this.#clock = clock
  }

  async table({ by, slot, groups, ...span }: UsageQuestion): Promise<UsageTable> {
    const values = [...spanValues(span, this.#clock.nowMs(), slot), groups]
    const rows = await reachable(this.#database.query<CellRow>(tableOf(by, slot), values))
    return {
      cells: rows.map((row) => ({
        group: row.name ?? undefined,
        atMs: row.at.getTime(),
        sum: sumOf(row),
      })),
      groups: rows[0]?.groups ?? 0,
    }
  }

  async totals({
    by,
    named,
    ...span
  }: Parameters<UsageReader['totals']>[0]): Promise<ReadonlyMap<string | undefined, UsageSum>> {
    const slot = span.fromMs % DAY_MS === 0 && span.endMs % DAY_MS === 0 ? 'day' : 'hour'
    const values = [...spanValues(span, this.#clock.nowMs(), slot), named]
    const rows = await reachable(
      this.#database.query<SumsRow & { name: string | null }>(totalsOf(by), values),
    )
    return new Map(rows.map((row) => [row.name ?? undefined, sumOf(row)]))
  }

  async spentByDay(span: UsageSpan): Promise<readonly bigint[]> {
    const values = spanValues(span, this.#clock.nowMs(), 'day')
    const rows = await reachable(this.#database.query<{ at: Date; nano: bigint }>(SPENT_BY_DAY, values))
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
