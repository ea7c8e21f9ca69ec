import type { StoreClock } from '#ports/clock.ts'
import type { Database } from './database.ts'

/** The built-in database has the clock of its process. */
export function storeClockOf(database: Database): StoreClock {
  return {
    async storeMs() {
      const [row] = await database.query<{ now_ms: number }>(
        'SELECT (extract(epoch FROM now()) * 1000)::double precision AS now_ms',
      )
      return row?.now_ms as number
    },
    monotonicMs: () => performance.now(),
  }
}
