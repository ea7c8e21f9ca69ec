/** Records that must survive a slip, and chores that must not run early because of it. It reads both with its own SQL. */
import type { Client } from 'pg'
import type { Violation } from '../invariants.ts'

/** Days of the request log before today that are there at the beginning: all of them are kept for thirty. */
const LOG_DAYS = 28
/** A request is written soon after it is accepted; a spool may wait for the store for a while. */
const ID_SECONDS = 120
const AT = `to_timestamp(('x0000' || left(replace(request_id::text, '-', ''), 12))::bit(64)::bigint / 1000.0)`
/** The lowest id of a moment. */
const idAt = (moment: string): string =>
  `rpad(lpad(to_hex((extract(epoch FROM ${moment}) * 1000)::bigint), 12, '0'), 32, '0')::uuid`

/** A request on each of the last days, and nodes that ended on them. */
export async function fillPast(client: Client): Promise<void> {
  for (let ago = 1; ago <= LOG_DAYS; ago += 1) {
    const day = `((now() AT TIME ZONE 'UTC')::date - ${ago})`
    const { rows } = await client.query<{ name: string; first: string; last: string }>(
      `SELECT 'requests_' || to_char(${day}, 'YYYY_MM_DD') AS name, ${idAt(`${day}::timestamp AT TIME ZONE 'UTC'`)} AS first,
         ${idAt(`(${day} + 1)::timestamp AT TIME ZONE 'UTC'`)} AS last`,
    )
    for (const { name, first, last } of rows)
      await client.query(
        `CREATE TABLE IF NOT EXISTS ${name} PARTITION OF requests FOR VALUES FROM ('${first}') TO ('${last}')`,
      )
    await client.query(
      `INSERT INTO requests (request_id, route, status, duration_ms)
       SELECT ${idAt(`now() - interval '${ago} days'`)}, 'embeddings', 200, 1`,
    )
  }
  await client.query(
    `INSERT INTO nodes (node_id, host, version, seals, ended_at)
     SELECT gen_random_uuid(), 'past', '0', true, now() - ago * interval '1 day' FROM generate_series(0, 6) AS ago`,
  )
}

export interface Kept {
  readonly logDays: readonly string[]
  readonly logRows: number
  readonly pastNodes: number
  readonly untilMs: number
}

/** Before a slip. */
export async function readKept(client: Client): Promise<Kept> {
  const { rows: days } = await client.query<{ name: string }>(
    `SELECT inhrelid::regclass::text AS name FROM pg_inherits WHERE inhparent = 'requests'::regclass`,
  )
  const { rows } = await client.query<{ until_ms: number; nodes: number }>(
    `SELECT (extract(epoch FROM now()) * 1000)::float8 AS until_ms,
       (SELECT count(*)::integer FROM nodes WHERE host = 'past' AND ended_at > now() - interval '6.9 days') AS nodes`,
  )
  const untilMs = rows[0]?.until_ms ?? 0
  return {
    logDays: days.map(({ name }) => name),
    logRows: await logRowsBefore(client, untilMs),
    pastNodes: rows[0]?.nodes ?? 0,
    untilMs,
  }
}

async function logRowsBefore(client: Client, untilMs: number): Promise<number> {
  const { rows } = await client.query<{ rows: number }>(
    `SELECT count(*)::integer AS rows FROM requests WHERE request_id < ${idAt('to_timestamp($1 / 1000.0)')}`,
    [untilMs],
  )
  return rows[0]?.rows ?? 0
}

/** After it. */
export async function checkKept(client: Client, before: Kept): Promise<Violation[]> {
  const now = await readKept(client)
  const violations: Violation[] = []
  const wrong = (what: string, ids: Violation['ids']): void =>
    void violations.push({ kind: 'other', what, ids })
  const gone = before.logDays.filter((name) => !now.logDays.includes(name))
  if (gone.length > 0) wrong('days of the request log were dropped early', { gone })
  const logRows = await logRowsBefore(client, before.untilMs)
  if (logRows < before.logRows)
    wrong('rows of the request log vanished', { before: before.logRows, after: logRows })
  if (now.pastNodes < before.pastNodes) wrong('nodes were forgotten early', { ...before, logDays: [] })
  for (const [what, statement] of EARLY) {
    const { rows } = await client.query<object>(statement)
    if (rows.length > 0) wrong(what, { rows: rows.slice(0, 3), count: rows.length })
  }
  return violations
}

const EARLY: readonly (readonly [what: string, statement: string])[] = [
  [
    'a seal is in the future',
    `SELECT * FROM ledger_seal WHERE through > now() OR compared_through > now() OR hours_kept_from > now()
       OR entries_kept_from > now() OR days_through > (now() AT TIME ZONE 'UTC')::date`,
  ],
  ['an hour was sealed early', `SELECT * FROM sealed_hours WHERE hour + interval '3 hours' > sealed_at`],
  [
    'a day was exported before its end',
    `SELECT day, exported_at FROM ledger_exports WHERE (day + 1)::timestamp AT TIME ZONE 'UTC' > exported_at`,
  ],
  [
    'an unknown call was posted early',
    `SELECT post.request_id, post.written_at FROM usage_events AS post JOIN usage_events AS entry USING (request_id, attempt)
     WHERE entry.kind = 'unknown' AND post.kind = 'post' AND post.remarks ->> 'by' = 'system'
       AND post.written_at < entry.written_at + interval '7 days'`,
  ],
  [
    'a request id has another time than its entry',
    `SELECT request_id, kind, written_at FROM usage_events
     WHERE abs(extract(epoch FROM written_at - ${AT})) > ${ID_SECONDS}`,
  ],
]
