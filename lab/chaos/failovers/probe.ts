/** An independent witness: one row after another through HAProxy. What was acknowledged must be there afterwards. */
import { Pool } from 'pg'
import { setTimeout as wait } from 'node:timers/promises'

export interface Probe {
  /** Unix times of acknowledged rows, by their number. */
  readonly acknowledged: readonly { readonly row: number; readonly atMs: number }[]
  /** The longest time between two acknowledged rows in this span. */
  gapMs(fromMs: number, toMs: number): number
  /** Acknowledged rows that are missing. */
  stop(): Promise<readonly number[]>
}

const PAUSE_MS = 50
/** Shorter than a failover, or a hanging attempt would hide its end. */
const ANSWER_MS = 500

export async function startProbe(url: string): Promise<Probe> {
  const pool = new Pool({
    connectionString: url,
    max: 1,
    connectionTimeoutMillis: ANSWER_MS,
    query_timeout: ANSWER_MS,
  })
  // Connections break here.
  pool.on('error', () => {})
  pool.on('connect', (client) => client.on('error', () => {}))
  await pool.query('CREATE TABLE probe (row bigint PRIMARY KEY)')
  const acknowledged: { row: number; atMs: number }[] = []
  const stopped = new AbortController()
  const writing = (async () => {
    for (let row = 0; !stopped.signal.aborted; row += 1) {
      await pool.query('INSERT INTO probe VALUES ($1)', [row]).then(
        () => acknowledged.push({ row, atMs: Date.now() }),
        () => {},
      )
      await wait(PAUSE_MS)
    }
  })()
  return {
    acknowledged,
    gapMs(fromMs, toMs) {
      const times = acknowledged.map(({ atMs }) => atMs)
      const gaps = times.map((atMs, index) => ({ atMs, lengthMs: atMs - (times[index - 1] ?? atMs) }))
      return Math.max(...gaps.filter(({ atMs }) => atMs > fromMs && atMs <= toMs).map((gap) => gap.lengthMs))
    },
    async stop() {
      stopped.abort()
      await writing
      const { rows } = await pool.query<{ row: string }>('SELECT row FROM probe')
      await pool.end()
      const there = new Set(rows.map(({ row }) => Number(row)))
      return acknowledged.map(({ row }) => row).filter((row) => !there.has(row))
    },
  }
}
