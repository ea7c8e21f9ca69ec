import type { Finder, FoundRow } from '#ports/finder.ts'
import { reachable } from '../away.ts'
import { lowestIdAt } from '../books/upkeep-ids.ts'
import type { Database } from '../database.ts'

const REQUEST = `
  SELECT request_id::text AS id, coalesce(model, route) AS title, status::text || ' ' || coalesce(fault, '') AS note, project
  FROM requests WHERE request_id = $1`

/** The log forgets after a month; the ledger does not. */
const LEDGER = `
  SELECT request_id::text AS id, model AS title, deployment AS note, project
  FROM usage_events WHERE request_id = $1 LIMIT 1`

const JOB =
  'SELECT job_id::text AS id, model AS title, state AS note, project FROM image_jobs WHERE job_id = $1'

const BATCH = `
  SELECT batch_id AS id, coalesce(model, endpoint) AS title, state AS note, project FROM batches WHERE batch_id = $1`

/**
 * Both ids begin with their moment, and the call's is made at most an hour after its request's. Ids of one millisecond
 * have no order, and a clock may be set back a little between the two.
 */
const CALL = `
  SELECT request_id::text AS id, model AS title, deployment AS note, project
  FROM usage_events WHERE request_id >= $2 AND request_id < $3 AND call_id = $1 LIMIT 1`

const NODE = `
  SELECT node_id::text AS id, host AS title, version AS note, NULL::text AS project FROM nodes WHERE node_id = $1`

const MEMBERS = `
  SELECT member_id::text AS id, name AS title, email AS note, NULL::text AS project FROM members
  WHERE strpos(lower(name), lower($1)) > 0 OR strpos(email, lower($1)) > 0 ORDER BY email LIMIT $2`

const ENTRY = `
  SELECT sequence::text AS id, action || ' ' || target AS title, actor AS note, NULL::text AS project
  FROM audit WHERE sequence = $1`

interface Row {
  readonly id: string
  readonly title: string
  readonly note: string
  readonly project: string | null
}

const HOUR_MS = 3_600_000
const SECOND_MS = 1000

export class PostgresFinder implements Finder {
  readonly #database: Database

  constructor(database: Database) {
    this.#database = database
  }

  async byId(id: string): Promise<readonly FoundRow[]> {
    for (const [type, text] of [
      ['request', REQUEST],
      ['request', LEDGER],
      ['request', JOB],
    ] as const) {
      const found = await this.#find(type, text, [id])
      if (found.length > 0) return found
    }
    const calledAtMs = momentOf(id)
    const calls = await this.#find('call', CALL, [
      id,
      lowestIdAt(calledAtMs - HOUR_MS),
      lowestIdAt(calledAtMs + SECOND_MS),
    ])
    return [...calls, ...(await this.#find('node', NODE, [id]))]
  }

  async batch(id: string): Promise<FoundRow | undefined> {
    return (await this.#find('batch', BATCH, [id]))[0]
  }

  members(text: string, limit: number): Promise<readonly FoundRow[]> {
    return this.#find('member', MEMBERS, [text, limit])
  }

  async auditEntry(sequence: bigint): Promise<FoundRow | undefined> {
    return (await this.#find('audit', ENTRY, [sequence]))[0]
  }

  async #find(type: FoundRow['type'], text: string, values: unknown[]): Promise<FoundRow[]> {
    const rows = await reachable(this.#database.query<Row>(text, values))
    return rows.map(({ project, ...row }) => ({ type, ...row, project: project ?? undefined }))
  }
}

/** Of an id: its first 48 bits. */
function momentOf(id: string): number {
  return Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16)
}
