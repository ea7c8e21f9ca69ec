/** How fast batches of a model ran, for the estimate of the next one. */
import type { Sql } from '#stores/postgres/database.ts'
import { answersOf } from '../shared/rows.ts'

/** Batches that are looked at: the last ones say most about the next. */
const LAST_BATCHES = 10
/** Lines of a batch that says something about speed: a smaller one mostly waits for its turn. */
const MIN_LINES = 50

/** $1: the model. Pauses count: the next batch may have them too. */
const SPEEDS = `
SELECT (completed + failed) / greatest(extract(epoch FROM ended_at - created_at), 0.1)::float8 AS speed FROM batches
WHERE model = $1 AND state = 'completed' AND completed >= ${MIN_LINES} ORDER BY ended_at DESC LIMIT ${LAST_BATCHES}`

/** Lines per second, the slowest first. */
export async function speedsOf(sql: Sql, model: string): Promise<readonly number[]> {
  const rows = await answersOf<{ speed: number }>(sql, SPEEDS, [model])
  return rows.map(({ speed }) => speed).sort((one, other) => one - other)
}
