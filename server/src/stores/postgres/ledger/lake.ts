import { readSigned, sumsFrom, sumsIn, type HourTotals, type SumName } from '#core/money/lake.ts'
import { HOUR_MS, momentOf } from '#core/money/ledger.ts'
import {
  HELD_MS,
  type EntryPlace,
  type ExportedPartition,
  type ExportedRows,
  type LakeStatus,
  type LakeStore,
  type WrittenManifest,
} from '#ports/lake.ts'
import type { EntryPage } from '#ports/ledger-files.ts'
import type { Database } from '../database.ts'
import { reachable } from '../unreachable.ts'
import {
  BY_KEY,
  CHAIN,
  CLAIM_CORRECTIONS,
  COLD_DIFFERENCES,
  CORRECTED_DAYS,
  COUNT_CLAIMED,
  DAYS_DUE,
  entryPage,
  HAS_CORRECTIONS,
  HAS_OPEN_UNKNOWN,
  HOLD,
  KEPT_FROM,
  LAST_MANIFEST,
  MANIFEST_OF,
  MANIFESTS,
  MAY_HAVE_OTHERS,
  PARTITIONS,
  RECORD,
  SEALED_HOURS,
  STATUS,
} from './lake-sql.ts'
import { DAY_MS, LOWEST_ID, lowestIdAt } from '#core/money/id-range.ts'
import { changePartition } from './upkeep-partitions.ts'

/** Limit for counting an hour of the ledger: seventy million entries take about ten seconds. */
const COUNT_MS = 60_000
/** Manifests of one span, at most: ten years of days. */
const MAX_DAYS = 3660

const PAGES = {
  entries: [entryPage('entries'), 'lake-entries'],
  corrections: [entryPage('corrections'), 'lake-corrections'],
} as const

interface StatusRow {
  readonly sealed_through: Date | null
  readonly exported_through: string | null
  readonly kept_from: string | null
  readonly days: number
  readonly entries: bigint
  readonly bytes: bigint
  readonly waiting: number
  readonly problem: string | null
  readonly problem_at: Date | null
}

type SealedRow = Readonly<Record<SumName, bigint>> & { readonly hour: Date; readonly hash: string }

export class PostgresLake implements LakeStore {
  readonly #database: Database

  constructor(database: Database) {
    this.#database = database
  }

  async hold(nodeId: string): Promise<boolean> {
    return (await this.#rows(HOLD, [nodeId, HELD_MS])).length > 0
  }

  daysDue(limit: number): Promise<readonly string[]> {
    return this.#days(DAYS_DUE, [limit])
  }

  correctedDays(writtenBeforeMs: number, limit: number): Promise<readonly string[]> {
    return this.#days(CORRECTED_DAYS, [new Date(writtenBeforeMs), limit])
  }

  async hasCorrections(day: string): Promise<boolean> {
    return (await this.#rows(HAS_CORRECTIONS, spanOf(day))).length > 0
  }

  async lastManifest() {
    const [row] = await this.#rows<WrittenManifest & { sequence: bigint }>(LAST_MANIFEST, [])
    return row && { ...row, sequence: Number(row.sequence) }
  }

  async manifestOf(day: string, number?: number): Promise<WrittenManifest | undefined> {
    const [row] = await this.#rows<WrittenManifest>(MANIFEST_OF, [day, number ?? null])
    return row
  }

  manifests(fromDay: string, throughDay: string): Promise<readonly WrittenManifest[]> {
    return this.#rows<WrittenManifest>(MANIFESTS, [fromDay, throughDay, MAX_DAYS])
  }

  async chain(afterSequence: number, limit: number) {
    const rows = await this.#rows<WrittenManifest & { sequence: bigint }>(CHAIN, [afterSequence, limit])
    return rows.map((row) => ({ ...row, sequence: Number(row.sequence) }))
  }

  async claimCorrections(day: string, manifest: number): Promise<number> {
    const values = [...spanOf(day), manifest]
    await this.#rows(CLAIM_CORRECTIONS, values)
    const [row] = await this.#rows<{ count: number }>(COUNT_CLAIMED, values)
    return row?.count ?? 0
  }

  async sealedHours(day: string): Promise<readonly HourTotals[]> {
    const rows = await this.#rows<SealedRow>(SEALED_HOURS, spanOf(day))
    return rows.map((row) => ({
      hourMs: row.hour.getTime(),
      sums: sumsFrom((name) => row[name]),
      hash: row.hash,
    }))
  }

  async page(
    rows: ExportedRows,
    { fromMs, endMs }: { readonly fromMs: number; readonly endMs: number },
    after: EntryPlace | undefined,
    limit: number,
  ): Promise<EntryPage> {
    const [statement, name] = PAGES[rows.kind]
    const values = [
      lowestIdAt(fromMs),
      lowestIdAt(endMs),
      rows.kind === 'corrections' ? rows.manifest : null,
      after?.requestId ?? LOWEST_ID,
      after?.attempt ?? 0,
      after?.kind ?? '',
      limit,
    ]
    const [page] = await reachable(
      this.#database.transaction(async (sql) => {
        await sql.query(BY_KEY)
        return sql.query<EntryPage>(statement, values, name)
      }),
    )
    return page as EntryPage
  }

  async record(
    { sequence, day, number }: Parameters<LakeStore['record']>[0],
    { text, sha256 }: WrittenManifest,
  ): Promise<void> {
    const { entries, bytes } = sizesIn(text)
    await this.#rows(RECORD, [sequence, day, number, text, sha256, entries, bytes])
  }

  async note(problem: string | undefined): Promise<void> {
    await this.#rows(
      `UPDATE ledger_lake SET problem = $1, problem_at = CASE WHEN $1::text IS NULL THEN NULL ELSE now() END
       WHERE problem IS DISTINCT FROM $1`,
      [problem ?? null],
    )
  }

  async status(): Promise<LakeStatus> {
    const [row] = await this.#rows<StatusRow>(STATUS, [])
    const { sealed_through: sealed, problem, problem_at: at, days, entries, waiting } = row as StatusRow
    return {
      sealedThroughMs: sealed?.getTime(),
      exportedThrough: row?.exported_through ?? undefined,
      keptFrom: row?.kept_from ?? undefined,
      days,
      entries,
      bytes: Number(row?.bytes),
      waiting,
      problem: problem === null || at === null ? undefined : { text: problem, atMs: at.getTime() },
    }
  }

  async keptFrom(): Promise<string | undefined> {
    const [row] = await this.#rows<{ day: string | null }>(KEPT_FROM, [], 'lake-kept-from')
    return row?.day ?? undefined
  }

  async oldestPartition(): Promise<ExportedPartition | undefined> {
    const [oldest] = await this.#rows<{ name: string; bounds: string }>(PARTITIONS, [])
    const [, from, end] =
      /FROM \('([0-9a-f-]{36})'\) TO \('([0-9a-f-]{36})'\)/.exec(oldest?.bounds ?? '') ?? []
    if (oldest === undefined || from === undefined || end === undefined) return undefined
    const [fromMs, endMs] = [momentOf(from), momentOf(end)]
    const [incomplete] = await this.#rows('SELECT 1 FROM ledger_seal WHERE days_through < $1::date', [
      dayAt(endMs),
    ])
    const [due] = await this.daysDue(1)
    if (incomplete !== undefined || (due !== undefined && due < dayAt(endMs))) return undefined
    const manifests = await this.manifests(dayAt(fromMs), dayAt(endMs - DAY_MS))
    const days = manifests.map((manifest) => ({
      day: readSigned(manifest.text)?.manifest.day ?? '',
      manifest,
    }))
    return { name: oldest.name, fromMs, endMs, days }
  }

  dropPartition(partition: ExportedPartition): ReturnType<LakeStore['dropPartition']> {
    return reachable(this.#drop(partition))
  }

  async #drop({ name, fromMs, endMs, days }: ExportedPartition): ReturnType<LakeStore['dropPartition']> {
    const ids = [lowestIdAt(fromMs), lowestIdAt(endMs)]
    if ((await this.#rows(HAS_OPEN_UNKNOWN, ids)).length > 0) return 'has open unknowns'
    const exported = days.reduce((sum, { manifest }) => sum + sizesIn(manifest.text).entries, 0n)
    if ((await this.#count(fromMs, endMs)) !== exported) return 'has other entries'
    const span = [new Date(fromMs), new Date(endMs)]
    let hasOthers = false
    const reason = await changePartition(this.#database, async (sql) => {
      for (const table of await lockedToDrop(sql, name))
        await sql.query(`LOCK TABLE ONLY ${table} IN ACCESS EXCLUSIVE MODE`)
      hasOthers = (await sql.query(MAY_HAVE_OTHERS, span)).length > 0
      if (hasOthers) return
      await sql.query('UPDATE ledger_seal SET entries_kept_from = greatest(entries_kept_from, $1)', [span[1]])
      await sql.query(`DROP TABLE ${name}`)
      await dropEmptyMonth(sql, name)
    })
    if (hasOthers) return 'has other entries'
    return reason === undefined ? 'dropped' : 'busy'
  }

  async coldDifferences(limit: number): Promise<readonly string[]> {
    const rows = await this.#rows<{ day: string; differing: readonly string[] }>(COLD_DIFFERENCES, [limit])
    return rows.map(
      ({ day, differing }) => `the sums of ${day} are not those of its files: ${differing.join(', ')}`,
    )
  }

  /** Hour by hour: no statement takes long. */
  #count(fromMs: number, endMs: number): Promise<bigint> {
    return this.#database.session(async (sql) => {
      let sum = 0n
      for (let hourMs = fromMs; hourMs < endMs; hourMs += HOUR_MS) {
        const [row] = await sql.query<{ count: bigint }>(
          'SELECT count(*) AS count FROM usage_events WHERE request_id >= $1 AND request_id < $2',
          [lowestIdAt(hourMs), lowestIdAt(hourMs + HOUR_MS)],
        )
        sum += row?.count ?? 0n
      }
      return sum
    }, COUNT_MS)
  }

  async #days(statement: string, values: readonly unknown[]): Promise<readonly string[]> {
    return (await this.#rows<{ day: string }>(statement, values)).map(({ day }) => day)
  }

  #rows<Row>(statement: string, values: readonly unknown[], name?: string): Promise<readonly Row[]> {
    return reachable(this.#database.query<Row>(statement, values, name))
  }
}

/** The tables that lose a partition, and the partition: from the top, as everyone locks them, or a reader and a drop deadlock. */
async function lockedToDrop(sql: Pick<Database, 'query'>, partition: string): Promise<readonly string[]> {
  const month = monthOf(partition)
  if (month === undefined) return ['usage_events', partition]
  return (await daysOf(sql, month)) > 1 ? [month, partition] : ['usage_events', month, partition]
}

/** A month whose last day was dropped has nothing left. */
async function dropEmptyMonth(sql: Pick<Database, 'query'>, day: string): Promise<void> {
  const month = monthOf(day)
  if (month !== undefined && (await daysOf(sql, month)) === 0) await sql.query(`DROP TABLE ${month}`)
}

/** Undefined for a partition that is a month itself. */
function monthOf(partition: string): string | undefined {
  return /^(usage_events_\d{4}_\d{2})_\d{2}$/.exec(partition)?.[1]
}

async function daysOf(sql: Pick<Database, 'query'>, month: string): Promise<number> {
  const [row] = await sql.query<{ days: number }>(
    'SELECT count(*)::integer AS days FROM pg_inherits WHERE inhparent = to_regclass($1)',
    [month],
  )
  return row?.days ?? 0
}

function sizesIn(text: string): { readonly entries: bigint; readonly bytes: number } {
  const manifest = readSigned(text)?.manifest
  if (manifest === undefined) throw new Error('a manifest of the ledger can not be read')
  return {
    entries: sumsIn(manifest.sums).entries + sumsIn(manifest.corrections).entries,
    bytes: manifest.files.reduce((sum, { bytes }) => sum + bytes, 0),
  }
}

function spanOf(day: string): [Date, Date] {
  const fromMs = Date.parse(day)
  return [new Date(fromMs), new Date(fromMs + DAY_MS)]
}

function dayAt(unixMs: number): string {
  return new Date(unixMs).toISOString().slice(0, 10)
}
