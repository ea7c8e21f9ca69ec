/** What a pasted id or a part of a name stands for in the store. */
import { z } from 'zod'
import { momentOf } from '#core/money/ledger.ts'
import type { ColdEntries } from '#ports/lake.ts'
import { lowestIdAt } from '#core/money/id-range.ts'
import type { Sql } from '#stores/postgres/database.ts'
import { HOUR_MS } from '../shared/times.ts'

export const hit = z
  .object({
    type: z.enum([
      'request',
      'batch',
      'call',
      'key',
      'project',
      'model',
      'deployment',
      'upstream',
      'asset',
      'space',
      'node',
      'member',
      'audit',
    ]),
    id: z.string().describe('What its page is opened by. Of a call or an asset: the id of its request.'),
    title: z.string(),
    note: z.string(),
    state: z.string().nullable().describe('Of a deployment.'),
  })
  .meta({ id: 'Hit' })

export type Hit = z.output<typeof hit>

/** Projects whose rows are found. Undefined: all. */
type Projects = readonly string[] | undefined

/** Rows that belong to no project are found by all. */
const IS_SEEN = '($2::text[] IS NULL OR project IS NULL OR project = ANY ($2))'

const REQUEST = `
  SELECT request_id::text AS id, coalesce(model, route) AS title, trim(status::text || ' ' || coalesce(fault, '')) AS note
  FROM requests WHERE request_id = $1 AND ${IS_SEEN}`

/** The log forgets after a month; the ledger does not. */
const LEDGER = `
  SELECT request_id::text AS id, model AS title, deployment AS note
  FROM usage_events WHERE request_id = $1 AND ${IS_SEEN} LIMIT 1`

const JOB = `SELECT job_id::text AS id, model AS title, state AS note FROM image_jobs WHERE job_id = $1 AND ${IS_SEEN}`

const BATCH = `
  SELECT batch_id AS id, coalesce(model, endpoint) AS title, state AS note
  FROM batches WHERE batch_id = $1 AND ${IS_SEEN}`

/**
 * Both ids begin with their moment, and a call gets its id at most an hour after its request. Ids of one millisecond
 * have no order, and a clock may be set back a little between the two.
 */
const CALL = `
  SELECT request_id::text AS id, model AS title, deployment AS note
  FROM usage_events WHERE request_id >= $3 AND request_id < $4 AND call_id = $1 AND ${IS_SEEN} LIMIT 1`

const NODE = 'SELECT node_id::text AS id, host AS title, version AS note FROM nodes WHERE node_id = $1'

const MEMBERS = `
  SELECT member_id::text AS id, name AS title, email AS note FROM members
  WHERE strpos(lower(name), lower($1)) > 0 OR strpos(email, lower($1)) > 0 ORDER BY email LIMIT $2`

const ENTRY = `
  SELECT sequence::text AS id, action || ' ' || target AS title, actor AS note FROM audit WHERE sequence = $1`

const SECOND_MS = 1000
const MINUTE_MS = 60_000

/** A request, a call or a node, by its whole UUID. */
export async function hitsOfUuid(
  sql: Sql,
  cold: ColdEntries,
  id: string,
  projects: Projects,
): Promise<Hit[]> {
  for (const text of [REQUEST, LEDGER, JOB]) {
    const found = await find(sql, 'request', text, [id, projects ?? null])
    if (found.length > 0) return found
  }
  const [entry] = await cold.ofRequest(id)
  if (entry !== undefined && projects?.includes(entry.project) !== false)
    return [{ type: 'request', id, title: entry.model, note: entry.deployment, state: null }]
  const calledAtMs = momentOf(id)
  const [fromMs, endMs] = [calledAtMs - HOUR_MS, calledAtMs + SECOND_MS]
  const span = [lowestIdAt(fromMs), lowestIdAt(endMs)]
  const calls = await find(sql, 'call', CALL, [id, projects ?? null, ...span])
  const found = [...calls, ...(await find(sql, 'node', NODE, [id]))]
  return found.length > 0 ? found : coldCall(cold, id, { fromMs, endMs, projects })
}

/** As `CALL` finds it, in the files of dropped days. Most calls follow their request within a minute, and an hour takes long to read. */
async function coldCall(
  cold: ColdEntries,
  id: string,
  {
    fromMs,
    endMs,
    projects,
  }: { readonly fromMs: number; readonly endMs: number; readonly projects: Projects },
): Promise<Hit[]> {
  const keptFromMs = await cold.keptFromMs()
  if (keptFromMs === undefined) return []
  const lastMs = Math.max(fromMs, endMs - MINUTE_MS)
  for (const [startMs, stopMs] of [
    [lastMs, endMs],
    [fromMs, lastMs],
  ] as const)
    for await (const entries of cold.entries(startMs, Math.min(stopMs, keptFromMs))) {
      const entry = entries.find(
        ({ call_id: callId, project }) => callId === id && projects?.includes(project) !== false,
      )
      if (entry !== undefined)
        return [
          { type: 'call', id: entry.request_id, title: entry.model, note: entry.deployment, state: null },
        ]
    }
  return []
}

export function hitsOfBatch(sql: Sql, id: string, projects: Projects): Promise<Hit[]> {
  return find(sql, 'batch', BATCH, [id, projects ?? null])
}

/** By a part of a name or a mail address. */
export function hitsOfMembers(sql: Sql, text: string, limit: number): Promise<Hit[]> {
  return find(sql, 'member', MEMBERS, [text, limit])
}

export function hitsOfAudit(sql: Sql, sequence: bigint): Promise<Hit[]> {
  return find(sql, 'audit', ENTRY, [sequence])
}

async function find(sql: Sql, type: Hit['type'], text: string, values: readonly unknown[]): Promise<Hit[]> {
  const rows = await sql.query<Pick<Hit, 'id' | 'title' | 'note'>>(text, values)
  return rows.map((row) => ({ type, ...row, state: null }))
}
