import {
  CAPTURED_MS,
  type Captured,
  type CapturedInput,
  type CapturedRequest,
  type CaptureStore,
} from '#ports/captures.ts'
import type { Clock } from '#ports/clock.ts'
import type { SealingKeys } from '#ports/credentials.ts'
import { openBytes, sealBytes } from '../../envelope.ts'
import { plainArray, textArray } from '../arrays.ts'
import type { Database, Sql } from '../database.ts'
import { reachable } from '../unreachable.ts'

/** Bytes of all projects: a small part of any disk that holds a ledger. */
const MAX_ALL_BYTES = 1024 * 1024 * 1024
/** Bytes of one project, which leaves room for others. With many projects each has an equal part of the whole. */
const MAX_PROJECT_BYTES = MAX_ALL_BYTES / 4
/** What is left after a deletion for want of room, so that the next pages delete nothing. */
const LEFT_SHARE = 0.9
/** Rows that one statement deletes: a fraction of a second. */
const PAGE_ROWS = 1000

const APPEND = `
WITH added AS (
  INSERT INTO captured_requests (request_id, project, has_failed, captured_at, bytes, sealed)
  SELECT request_id, project, has_failed, captured_at, length(sealed), sealed
  FROM unnest($1::uuid[], $2::text[], $3::boolean[], $4::timestamptz[], $5::bytea[])
    AS given (request_id, project, has_failed, captured_at, sealed)
  ON CONFLICT DO NOTHING RETURNING project, bytes
)
INSERT INTO captured_bytes AS total (project, bytes)
SELECT project, sum(bytes) FROM added GROUP BY project ORDER BY project
ON CONFLICT (project) DO UPDATE SET bytes = total.bytes + excluded.bytes`

const SHARES = `
SELECT project, bytes::float8 AS bytes, least($1::bigint, $2::bigint / count(*) OVER ())::float8 AS share
FROM captured_bytes`

/** The oldest first, those of failed requests last. */
const MAKE_ROOM = `
WITH oldest AS (
  SELECT request_id, bytes, sum(bytes) OVER (ORDER BY has_failed, request_id) AS until
  FROM captured_requests WHERE project = $1
), gone AS (
  DELETE FROM captured_requests WHERE request_id IN (SELECT request_id FROM oldest WHERE until - bytes < $2)
  RETURNING bytes
), counted AS (
  UPDATE captured_bytes SET bytes = bytes - (SELECT coalesce(sum(bytes), 0) FROM gone) WHERE project = $1
)
SELECT count(*)::integer AS rows FROM gone`

const FIND = 'SELECT project, captured_at FROM captured_requests WHERE request_id = $1 AND captured_at > $2'
const OPEN = 'SELECT sealed FROM captured_requests WHERE request_id = $1 AND captured_at > $2'

const DELETE_OLD = `
DELETE FROM captured_requests WHERE request_id IN (
  SELECT request_id FROM captured_requests WHERE captured_at <= $1 OR project = ANY ($2::text[]) LIMIT ${PAGE_ROWS}
) RETURNING 1`

/** Corrects the sums, which a node that died may have left behind. */
const COUNT_AGAIN = `
WITH real AS (SELECT project, sum(bytes) AS bytes FROM captured_requests GROUP BY project),
gone AS (DELETE FROM captured_bytes WHERE project NOT IN (SELECT project FROM real))
UPDATE captured_bytes SET bytes = real.bytes FROM real WHERE real.project = captured_bytes.project`

interface ShareRow {
  readonly project: string
  readonly bytes: number
  readonly share: number
}

export class PostgresCaptures implements CaptureStore {
  readonly #database: Database
  readonly #keys: SealingKeys
  readonly #clock: Pick<Clock, 'nowMs'>

  constructor(database: Database, keys: SealingKeys, clock: Pick<Clock, 'nowMs'>) {
    this.#database = database
    this.#keys = keys
    this.#clock = clock
  }

  async append(requests: readonly CapturedRequest[]): Promise<void> {
    const sealed = requests.map(({ requestId, input }) => sealBytes(textOf(input), requestId, this.#keys))
    const values = [
      plainArray(requests.map(({ requestId }) => requestId)),
      textArray(requests.map(({ project }) => project)),
      plainArray(requests.map(({ hasFailed }) => `${hasFailed}`)),
      textArray(requests.map(({ capturedAtMs }) => new Date(capturedAtMs).toISOString())),
      sealed,
    ]
    const projects = new Set(requests.map(({ project }) => project))
    await reachable(
      this.#database.transaction(async (sql) => {
        await sql.query(APPEND, values)
        await makeRoom(sql, ({ project }) => projects.has(project))
      }),
    )
  }

  async find(requestId: string): Promise<Captured | undefined> {
    const [row] = await reachable(
      this.#database.query<{ project: string; captured_at: Date }>(FIND, [requestId, this.#oldest()]),
    )
    return row && { project: row.project, capturedAtMs: row.captured_at.getTime() }
  }

  async open(requestId: string): Promise<CapturedInput | undefined> {
    const [row] = await reachable(
      this.#database.query<{ sealed: Uint8Array }>(OPEN, [requestId, this.#oldest()]),
    )
    const content = row && openBytes(row.sealed, requestId, this.#keys)
    return content && inputOf(content)
  }

  async deleteOld(captures: (project: string) => boolean): Promise<number> {
    const known = await reachable(
      this.#database.query<{ project: string }>('SELECT project FROM captured_bytes'),
    )
    const ended = known.map(({ project }) => project).filter((project) => !captures(project))
    let deleted = 0
    for (;;) {
      const rows = await reachable(this.#database.query(DELETE_OLD, [this.#oldest(), ended]))
      deleted += rows.length
      if (rows.length < PAGE_ROWS) break
    }
    return reachable(
      this.#database.transaction(async (sql) => {
        await sql.query(COUNT_AGAIN)
        return deleted + (await makeRoom(sql, () => true))
      }),
    )
  }

  /** What was captured then or before is gone, whether it is deleted yet or not. */
  #oldest(): Date {
    return new Date(this.#clock.nowMs() - CAPTURED_MS)
  }
}

async function makeRoom(sql: Sql, concerns: (row: ShareRow) => boolean): Promise<number> {
  const rows = await sql.query<ShareRow>(SHARES, [MAX_PROJECT_BYTES, MAX_ALL_BYTES])
  let deleted = 0
  for (const { project, bytes, share } of rows.filter((row) => concerns(row) && row.bytes > row.share)) {
    const excess = Math.ceil(bytes - share * LEFT_SHARE)
    const [gone] = await sql.query<{ rows: number }>(MAKE_ROOM, [project, excess])
    deleted += gone?.rows ?? 0
  }
  return deleted
}

/** Everything but the body, as one line of JSON, then the body. */
function textOf({ body, ...about }: CapturedInput): Buffer {
  return Buffer.concat([Buffer.from(`${JSON.stringify(about)}\n`), body])
}

function inputOf(content: Buffer): CapturedInput {
  const end = content.indexOf('\n')
  const about = JSON.parse(content.toString('utf8', 0, end)) as Omit<CapturedInput, 'body'>
  return { ...about, path: about.path, body: content.subarray(end + 1) }
}
