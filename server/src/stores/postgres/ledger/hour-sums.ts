/** Sums of hours, of their entries and of their rollups, and how the two differ. */
import { createHash } from 'node:crypto'
import {
  CANONICAL_COLUMNS,
  COLUMN_SEPARATOR,
  HASHED_MS,
  LINE_SEPARATOR,
} from '#core/money/canonical-entry.ts'
import { HOUR_MS } from '#core/money/ledger.ts'
import type { LedgerDifference, LedgerSums } from '#ports/upkeep.ts'
import type { Sql } from '../database.ts'
import { LATE_SHARDS } from './ledger-sql.ts'
import { HIGHEST_ID, LOWEST_ID, lowestIdAt } from '#core/money/id-range.ts'

/** Limit for one statement. A slice takes a second on a small, busy machine. */
export const SUM_MS = 60_000
/** Entries that one statement adds up, by the rollups of the hour. */
const SLICE_ENTRIES = 500_000
const SLICES_PER_HOUR = HOUR_MS / HASHED_MS

/** From its first moment, included, to its end, excluded; without an end if undefined. */
export interface Stretch {
  readonly fromMs: number | undefined
  readonly endMs: number | undefined
}

const SUM_NAMES = [
  'entries',
  'posts',
  'tokens',
  'images',
  'amount_nano',
  'requests',
  'hits',
  'saved_nano',
  'unknown_nano',
] as const

export type Sums = Readonly<Record<(typeof SUM_NAMES)[number], bigint>>

export const SUM_COLUMNS = SUM_NAMES.join(', ')

/** Null: the sum of the project. */
type SumsRow = Sums & { readonly project: string; readonly label: string | null }

const sumsOf = (summed: (column: string) => string): string =>
  SUM_NAMES.slice(2)
    .map((column) => `coalesce(${summed(column)}, 0)::bigint AS ${column}`)
    .join(', ')

const LEDGER_SUMS = `count(*) AS entries, count(*) FILTER (WHERE kind = 'post') AS posts, ${sumsOf((column) => `sum(${column})`)}`
const ROLLED_SUMS = `0::bigint AS entries, sum(posts)::bigint AS posts, ${sumsOf((column) => `sum(${column})`)}`

/** The entries of a sealed hour are those that are no corrections. $1, $2: ids from and to. */
const UNCORRECTED = `NOT EXISTS (
  SELECT FROM ledger_corrections AS late
  WHERE late.request_id = events.request_id AND late.attempt = events.attempt AND late.kind = events.kind
    AND late.request_id >= $1::uuid AND late.request_id < $2::uuid
)`
const IN_SLICE = 'request_id >= $1::uuid AND request_id < $2::uuid'

const ledgerSums = (which: string): string => `
SELECT project, NULL AS label, ${LEDGER_SUMS} FROM usage_events AS events WHERE ${IN_SLICE} AND ${which} GROUP BY project`

/** A tag whose key is not counted separately is counted under `tag:`, once for each entry. */
const labelSums = (which: string): string => `
WITH labelled AS (
  SELECT DISTINCT events.project, request_id, attempt, kind, coalesce(names.label, 'tag:') AS label,
    tokens, images, amount_nano, requests, hits, saved_nano, unknown_nano
  FROM usage_events AS events
  CROSS JOIN LATERAL (
    SELECT 'user' AS label WHERE end_user IS NOT NULL UNION ALL SELECT 'tag:' || jsonb_object_keys(tags)
  ) AS own
  LEFT JOIN usage_labels AS names ON names.project = events.project AND names.label = own.label AND names.value = ''
    AND names.day = (to_timestamp(
      ('x0000' || left(replace(request_id::text, '-', ''), 12))::bit(64)::bigint / 1000
    ) AT TIME ZONE 'UTC')::date
  WHERE ${IN_SLICE} AND (end_user IS NOT NULL OR tags IS NOT NULL) AND ${which}
)
SELECT project, label, ${LEDGER_SUMS} FROM labelled GROUP BY project, label`

const rolledSums = (hours: string, label: string, which: string): string => `
SELECT project, ${label} AS label, ${ROLLED_SUMS} FROM ${hours}
WHERE hour >= $1::timestamptz AND hour < $2::timestamptz AND ${which} GROUP BY 1, 2`

const statementsOf = (entries: string, shards: string) => ({
  ledger: ledgerSums(entries),
  labels: labelSums(entries),
  rolled: rolledSums('usage_hours', 'NULL::text', shards),
  rolledLabels: rolledSums('usage_label_hours', 'label', shards),
})

const STATEMENTS = {
  all: statementsOf('true', 'true'),
  /** Without what came after the hour was sealed. */
  sealed: statementsOf(UNCORRECTED, `shard < ${LATE_SHARDS}`),
}

/** An absent value is no text. */
const LINE = `concat(${CANONICAL_COLUMNS.join(`, '${COLUMN_SEPARATOR}', `)})`

/** $1, $2: the ids of the whole slice; $3, $4: the ids from and to of each stretch that has a hash of its own. */
const HASHES = `
SELECT hashed.hash FROM unnest($3::uuid[], $4::uuid[]) WITH ORDINALITY AS stretch (low, high, place)
CROSS JOIN LATERAL (
  SELECT count(*) AS entries, sha256(convert_to(
    string_agg(${LINE}, '${LINE_SEPARATOR}' ORDER BY request_id, attempt, kind COLLATE "C"), 'UTF8'
  )) AS hash
  FROM usage_events AS events WHERE request_id >= low AND request_id < high AND ${UNCORRECTED}
) AS hashed
WHERE entries > 0 ORDER BY place`

/** Runs `work` at one moment: entries and rollups move together, and all its statements see the same of both. */
export async function atOneMoment<Result>(sql: Sql, work: () => Promise<Result>): Promise<Result> {
  await sql.query('BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY')
  const result = await work()
  await sql.query('COMMIT')
  return result
}

/** $3: whether corrections are part of them. */
const SEALED_SUMS = `
SELECT ${SUM_NAMES.map((name) => `coalesce(sum(${name}), 0)::bigint AS ${name}`).join(', ')} FROM (
  SELECT ${SUM_COLUMNS} FROM sealed_hours WHERE hour >= $1::timestamptz AND hour < $2::timestamptz
  UNION ALL
  SELECT 1, CASE WHEN kind = 'post' THEN 1 ELSE 0 END, tokens, images, amount_nano, requests, hits, saved_nano, unknown_nano
  FROM ledger_corrections WHERE $3::boolean AND hour >= $1::timestamptz AND hour < $2::timestamptz
) AS sealed`

const SEALED_HASH = 'SELECT hash FROM sealed_hours WHERE hour = $1::timestamptz'

/**
 * Where a sealed hour differs from what was sealed: its entries, or its rollups where entries are no longer in the store. In a
 * transaction that reads at one moment.
 */
export async function sealedDifferences(
  sql: Sql,
  hourMs: number,
  hasEntries: boolean,
): Promise<readonly LedgerDifference[]> {
  const times = [new Date(hourMs).toISOString(), new Date(hourMs + HOUR_MS).toISOString()]
  const [sealed = NO_SUMS] = await sql.query<Sums>(SEALED_SUMS, [...times, !hasEntries])
  const about = { project: '', fromMs: hourMs, rollup: portSums(sealed) }
  if (!hasEntries) {
    const rolled = (await sql.query<SumsRow>(STATEMENTS.all.rolled, times)).reduce<Sums>(addedUp, NO_SUMS)
    return areEqual(rolled, sealed) ? [] : [{ ...about, sealed: 'sums', ledger: portSums(rolled) }]
  }
  const { totals, slices } = await sumsIn(sql, { fromMs: hourMs, endMs: hourMs + HOUR_MS }, 'sealed')
  const ledger = portSums(totals)
  if (!areEqual(totals, sealed) || totals.entries !== sealed.entries)
    return [{ ...about, sealed: 'entries', ledger }]
  const [row] = await sql.query<{ hash: Uint8Array }>(SEALED_HASH, [times[0]])
  const isSame = row === undefined || hashOf(await hashesIn(sql, slices)).equals(row.hash)
  return isSame ? [] : [{ ...about, sealed: 'hash', ledger }]
}

/** The hash of an hour. */
export function hashOf(hashes: readonly Uint8Array[]): Buffer {
  const whole = createHash('sha256')
  for (const one of hashes) whole.update(one)
  return whole.digest()
}

export interface StretchSums {
  readonly entries: number
  readonly totals: Sums
  readonly differences: readonly LedgerDifference[]
  readonly slices: readonly Slice[]
}

/** What the entries of a stretch add up to, and where the rollups differ. In a transaction that reads at one moment. */
export async function sumsIn(sql: Sql, stretch: Stretch, which: 'all' | 'sealed'): Promise<StretchSums> {
  const statements = STATEMENTS[which]
  const times = [timeText(stretch.fromMs, '-infinity'), timeText(stretch.endMs, 'infinity')]
  const rolled = [...(await sql.query<SumsRow>(statements.rolled, times))]
  const slices = slicesOf(stretch, rolled)
  const [labels] = await sql.query('SELECT 1 FROM usage_labels LIMIT 1')
  if (labels !== undefined) rolled.push(...(await sql.query<SumsRow>(statements.rolledLabels, times)))
  const ledger: SumsRow[] = []
  for (const { low, high } of slices) {
    ledger.push(...(await sql.query<SumsRow>(statements.ledger, [low, high])))
    if (labels !== undefined) ledger.push(...(await sql.query<SumsRow>(statements.labels, [low, high])))
  }
  const totals = ledger.filter(({ label }) => label === null).reduce(addedUp, NO_SUMS)
  return {
    entries: Number(totals.entries),
    totals,
    differences: differencesOf(ledger, rolled, stretch),
    slices,
  }
}

/** The hashes of an hour, from which the hash of the hour is made. In the same transaction. */
export async function hashesIn(sql: Sql, slices: readonly Slice[]): Promise<Uint8Array[]> {
  const hashes: Uint8Array[] = []
  for (const { low, high, stretches } of slices) {
    const bounds = [stretches.map((one) => one.low), stretches.map((one) => one.high)]
    const rows = await sql.query<{ hash: Uint8Array }>(HASHES, [low, high, ...bounds])
    hashes.push(...rows.map(({ hash }) => hash))
  }
  return hashes
}

interface IdRange {
  readonly low: string
  readonly high: string
}

/** What one statement reads, and the stretches in it that have a hash each. */
interface Slice extends IdRange {
  readonly stretches: readonly IdRange[]
}

/** Of an hour: as many as its rollups say it needs. */
function slicesOf({ fromMs, endMs }: Stretch, rolled: readonly Sums[]): readonly Slice[] {
  if (fromMs === undefined || endMs === undefined || endMs - fromMs !== HOUR_MS) {
    const low = fromMs === undefined ? LOWEST_ID : lowestIdAt(fromMs)
    return [{ low, high: endMs === undefined ? HIGHEST_ID : lowestIdAt(endMs), stretches: [] }]
  }
  const stretches = Array.from({ length: SLICES_PER_HOUR }, (_, index) => ({
    low: lowestIdAt(fromMs + index * HASHED_MS),
    high: lowestIdAt(fromMs + (index + 1) * HASHED_MS),
  }))
  const { posts, requests } = rolled.reduce(addedUp, NO_SUMS)
  const expected = Number(posts > requests ? posts : requests)
  const count = Math.min(SLICES_PER_HOUR, Math.ceil(expected / SLICE_ENTRIES) || 1)
  const size = Math.ceil(SLICES_PER_HOUR / count)
  const slices: Slice[] = []
  for (let at = 0; at < SLICES_PER_HOUR; at += size) {
    const own = stretches.slice(at, at + size)
    slices.push({ low: own[0]?.low as string, high: own.at(-1)?.high as string, stretches: own })
  }
  return slices
}

const NO_SUMS = Object.fromEntries(SUM_NAMES.map((name) => [name, 0n])) as unknown as Sums

function addedUp(left: Sums, right: Sums): Sums {
  return Object.fromEntries(SUM_NAMES.map((name) => [name, left[name] + right[name]])) as unknown as Sums
}

/** Rollups do not count entries. */
function areEqual(left: Sums, right: Sums): boolean {
  return SUM_NAMES.every((sum) => sum === 'entries' || left[sum] === right[sum])
}

/** One per project, and per project and label, in their order. */
function differencesOf(
  ledger: readonly SumsRow[],
  rolled: readonly SumsRow[],
  { fromMs }: Stretch,
): readonly LedgerDifference[] {
  const [ofLedger, ofRollups] = [byName(ledger), byName(rolled)]
  const names = [...new Set([...ofLedger.keys(), ...ofRollups.keys()])].toSorted()
  return names.flatMap((name) => {
    const [project = '', label] = name.split('\0')
    const [left, right] = [ofLedger.get(name) ?? NO_SUMS, ofRollups.get(name) ?? NO_SUMS]
    if (areEqual(left, right)) return []
    return [{ project, label, fromMs, ledger: portSums(left), rollup: portSums(right) }]
  })
}

/** No name contains a NUL. */
function byName(rows: readonly SumsRow[]): Map<string, Sums> {
  const sums = new Map<string, Sums>()
  for (const row of rows) {
    const name = row.label === null ? row.project : `${row.project}\0${row.label}`
    sums.set(name, addedUp(sums.get(name) ?? NO_SUMS, row))
  }
  return sums
}

function portSums(sums: Sums): LedgerSums {
  return {
    posts: Number(sums.posts),
    tokens: Number(sums.tokens),
    images: Number(sums.images),
    amountNanoUsd: sums.amount_nano,
    requests: Number(sums.requests),
    hits: Number(sums.hits),
    savedNanoUsd: sums.saved_nano,
    unknownNanoUsd: sums.unknown_nano,
  }
}

export function timeText(unixMs: number | undefined, without: 'infinity' | '-infinity'): string {
  return unixMs === undefined || !Number.isFinite(unixMs) ? without : new Date(unixMs).toISOString()
}
