/** Seals hours: each is added up once, after the last writer that may still add to it has ended. */
import { setTimeout as sleep } from 'node:timers/promises'
import { HOUR_MS, hourOf } from '#core/money/ledger.ts'
import type { StoreClock } from '#ports/clock.ts'
import { LATENESS_MS, type HoursSealed } from '#ports/sealed-hours.ts'
import type { LedgerDifference } from '#ports/upkeep.ts'
import type { Database, Sql } from '../database.ts'
import { reachable } from '../unreachable.ts'
import { atOneMoment, hashesIn, hashOf, SUM_MS, sumsIn, timeText, type Sums } from './hour-sums.ts'
import { completeDays } from './roll-up.ts'
import {
  ADOPT,
  BEGIN_SEALING,
  EARLIER_NODES,
  END_SEALING,
  FIRST_SINCE,
  MERGE_SHARDS,
  MOVE_LATE,
  NO_DIFFERENCES,
  NOTE_DIFFERENCES,
  SEAL,
  SEAL_HOUR,
  WRITERS,
  WRITTEN_LATE,
  type SealRow,
} from './seal-sql.ts'
import { DAY_MS, LOWEST_ID, lowestIdAt } from '#core/money/id-range.ts'

/** Time after which no further hour is begun: the other chores of the round have their turn. */
const ROUND_MS = 20_000
/** Limit of the wait for writers. Appends take milliseconds, and their statements end after seconds. */
const WRITERS_MS = 5000
/** Interval of looks at the writers. */
const LOOK_MS = 20
const MAX_DIFFERENCES = 100

/** Hours that are being sealed. `fromMs` of the first ones of a ledger is -Infinity. */
interface Sealing {
  readonly fromMs: number
  readonly throughMs: number
}

interface AddedUpHour {
  readonly hourMs: number
  readonly totals: Sums
  readonly hash: Uint8Array
  readonly differences: readonly LedgerDifference[]
}

export class PostgresSealing {
  readonly #database: Database
  readonly #clock: StoreClock
  /** The nodes of an earlier version whose late entries were looked for, all of which had ended. */
  #adopted = ''

  constructor(database: Database, clock: StoreClock) {
    this.#database = database
    this.#clock = clock
  }

  /**
   * Seals the hours that are due, the oldest first, and completes their days, for a bounded time; what is left is done in the next
   * round. Any node may do it, twice or beside another: an hour is sealed once. A sum that differs from the entries of its hour is
   * reported and never changed. Rejects with `StoreUnreachable`.
   */
  sealDue(): Promise<HoursSealed> {
    return reachable(this.#sealDue())
  }

  async #sealDue(): Promise<HoursSealed> {
    const startMs = this.#clock.monotonicMs()
    const done = { hours: 0, entries: 0, differences: [] as LedgerDifference[], adopted: 0 }
    if (await this.#hasEarlierNode()) return { ...done, waitsFor: 'a node of an earlier version' }
    done.adopted = await this.#adoptLate()
    const isOver = (): boolean => this.#clock.monotonicMs() - startMs >= ROUND_MS
    do {
      const sealing = await this.#begin()
      if (sealing === undefined) break
      if (!(await this.#writersEnded())) return { ...done, waitsFor: 'a transaction' }
      const hours = await this.#seal(sealing)
      if (hours === undefined) return { ...done, waitsFor: 'a node of an earlier version' }
      done.hours += hours.length
      for (const { totals, differences } of hours) {
        done.entries += Number(totals.entries)
        done.differences.push(...differences.slice(0, MAX_DIFFERENCES - done.differences.length))
      }
    } while (!isOver())
    await completeDays(this.#database, isOver)
    return done
  }

  async #hasEarlierNode(): Promise<boolean> {
    return (await this.#database.query(EARLIER_NODES, ['infinity'])).length > 0
  }

  /**
   * From now on entries of these hours are late. They are the next hour that has entries and what lies before it, or all that is
   * due. Undefined: nothing is due. What another node has begun is continued.
   */
  async #begin(): Promise<Sealing | undefined> {
    const dueMs = Math.floor(((await this.#clock.storeMs()) - LATENESS_MS) / HOUR_MS) * HOUR_MS
    return this.#database.transaction(async (sql) => {
      const [row] = await sql.query<SealRow>(`${SEAL} FOR UPDATE`)
      const { through_ms: fromMs, sealing_ms: begunMs } = row as SealRow
      if (begunMs !== null) return { fromMs: begunMs, throughMs: fromMs }
      if (fromMs >= dueMs) return undefined
      const nextMs = await firstHourSince(sql, fromMs)
      const throughMs = nextMs === undefined || nextMs >= dueMs ? dueMs : nextMs + HOUR_MS
      await sql.query(BEGIN_SEALING, [timeText(fromMs, '-infinity'), new Date(throughMs)])
      return { fromMs, throughMs }
    })
  }

  /** Whether every writer that may not have seen the beginning has ended. */
  async #writersEnded(): Promise<boolean> {
    const writersIn = async (known: readonly string[] | null): Promise<readonly string[]> =>
      (await this.#database.query<{ writer: string }>(WRITERS, [known])).map(({ writer }) => writer)
    let writers = await writersIn(null)
    for (let waitedMs = 0; writers.length > 0 && waitedMs < WRITERS_MS; waitedMs += LOOK_MS) {
      await sleep(LOOK_MS)
      writers = await writersIn(writers)
    }
    return writers.length === 0
  }

  /** Undefined when a node of an earlier version may have written meanwhile: the hours stay as they were. */
  async #seal(sealing: Sealing): Promise<readonly AddedUpHour[] | undefined> {
    return this.#database.session(async (sql) => {
      const { barrierAt, hours } = await atOneMoment(sql, async () => {
        const [moment] = await sql.query<{ at: string }>('SELECT now()::text AS at')
        return { barrierAt: moment?.at as string, hours: await addedUpHours(sql, sealing) }
      })
      await sql.query('BEGIN ISOLATION LEVEL READ COMMITTED')
      const [row] = await sql.query<SealRow>(`${SEAL} FOR UPDATE`)
      const isDone = row?.sealing_ms !== sealing.fromMs || row.through_ms !== sealing.throughMs
      if (!isDone) {
        const span = [timeText(sealing.fromMs, '-infinity'), new Date(sealing.throughMs)]
        for (const statement of MERGE_SHARDS) await sql.query(statement, span)
        // After the rollups were read: a node whose sums are among them is among these.
        if ((await sql.query(EARLIER_NODES, [barrierAt])).length > 0) return undefined
        for (const hour of hours) await keep(sql, hour, barrierAt)
        await sql.query(END_SEALING)
      }
      await sql.query('COMMIT')
      return isDone ? [] : hours
    }, SUM_MS)
  }

  /**
   * A node of an earlier version writes late entries among the others. After its end they become corrections, as if a node of this
   * version had written them.
   */
  async #adoptLate(): Promise<number> {
    const earlier = await this.#database.query<{ node_id: string }>(EARLIER_NODES, ['-infinity'])
    const nodes = earlier.map(({ node_id: id }) => id).join()
    if (nodes === this.#adopted || !(await this.#writersEnded())) return 0
    const [seal] = await this.#database.query<SealRow>(SEAL)
    const sealedMs = seal?.sealing_ms ?? seal?.through_ms ?? -Infinity
    let adopted = 0
    let dayMs = await firstHourSince(this.#database, seal?.hours_kept_from_ms ?? -Infinity)
    for (
      ;
      dayMs !== undefined && dayMs < sealedMs;
      dayMs = await firstHourSince(this.#database, dayMs + DAY_MS)
    ) {
      const endMs = Math.min(dayMs + DAY_MS, sealedMs)
      const hours = await this.#database.query<{ hour: Date }>(WRITTEN_LATE, [
        new Date(dayMs),
        new Date(endMs),
      ])
      for (const { hour } of hours) adopted += await this.#adopt(hour)
    }
    this.#adopted = nodes
    return adopted
  }

  #adopt(hour: Date): Promise<number> {
    const endMs = hour.getTime() + HOUR_MS
    return this.#database.session(async (sql) => {
      await sql.query('BEGIN ISOLATION LEVEL READ COMMITTED')
      const rows = await sql.query(ADOPT, [lowestIdAt(hour.getTime()), lowestIdAt(endMs), hour])
      for (const statement of MOVE_LATE) await sql.query(statement, [hour, new Date(endMs)])
      await sql.query('COMMIT')
      return rows.length
    }, SUM_MS)
  }
}

/** Those that have entries or rollups. */
async function addedUpHours(sql: Sql, { fromMs, throughMs }: Sealing): Promise<readonly AddedUpHour[]> {
  const hours: AddedUpHour[] = []
  let hourMs = await firstHourSince(sql, fromMs)
  for (; hourMs !== undefined && hourMs < throughMs; hourMs = await firstHourSince(sql, hourMs + HOUR_MS)) {
    const stretch = { fromMs: hourMs, endMs: hourMs + HOUR_MS }
    const { totals, differences, slices } = await sumsIn(sql, stretch, 'sealed')
    hours.push({ hourMs, totals, differences, hash: hashOf(await hashesIn(sql, slices)) })
  }
  return hours
}

async function keep(
  sql: Sql,
  { hourMs, totals, hash, differences }: AddedUpHour,
  barrierAt: string,
): Promise<void> {
  const hour = new Date(hourMs)
  await sql.query(SEAL_HOUR, [hour, ...Object.values(totals), hash, barrierAt])
  await noteDifferences(sql, hourMs, differences.length)
}

/** What is known of the hour until it is compared again. */
export async function noteDifferences(sql: Sql, hourMs: number, differences: number): Promise<void> {
  const hour = new Date(hourMs)
  if (differences === 0) await sql.query(NO_DIFFERENCES, [hour])
  else await sql.query(NOTE_DIFFERENCES, [hour, differences])
}

/** The first hour from then on that has entries or rollups. */
export async function firstHourSince(sql: Sql, sinceMs: number): Promise<number | undefined> {
  const id = Number.isFinite(sinceMs) ? lowestIdAt(sinceMs) : LOWEST_ID
  const [first] = await sql.query<{ id: string | null; hour: Date | null }>(FIRST_SINCE, [
    id,
    timeText(sinceMs, '-infinity'),
  ])
  const hours = [...(first?.id ? [hourOf(first.id)] : []), ...(first?.hour ? [first.hour.getTime()] : [])]
  return hours.length === 0 ? undefined : Math.min(...hours)
}
