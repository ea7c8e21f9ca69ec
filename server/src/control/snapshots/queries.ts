/** Views frozen in time that a link opens. The store keeps the digest of a link, never the link. */
import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import type { Actor } from '#ports/audit.ts'
import { ChangeRefused } from '#ports/key-store.ts'
import { changeAudited } from '#stores/postgres/audit.ts'
import type { Database, Sql } from '#stores/postgres/database.ts'
import { time } from '../shared/fields.ts'
import { answersOf } from '../shared/rows.ts'
import { PAGES, type SnapshotPage } from './rules.ts'

export const snapshotLink = z
  .object({
    id: z.uuid(),
    page: z.enum(PAGES),
    title: z.string(),
    projects: z.array(z.string()).nullable().describe('The projects that its figures are of. null: all.'),
    bytes: z.int(),
    created_by: z.string().describe('The email address of the member who made it.'),
    created_at: time,
    expires_at: time,
    link: z.string().optional().describe('In the answer to POST alone. It is never shown again.'),
  })
  .meta({ id: 'SnapshotLink' })

export type SnapshotLink = Omit<z.output<typeof snapshotLink>, 'link'>

export const snapshot = z
  .object({
    page: z.enum(PAGES),
    title: z.string(),
    projects: z.array(z.string()).nullable(),
    created_by: z.string().describe('The name of the member who made it.'),
    created_at: time,
    expires_at: time,
    content: z
      .record(z.string(), z.unknown())
      .describe('By the names of its parts, the answers of the control API as they were.'),
  })
  .meta({ id: 'Snapshot' })

type Snapshot = z.output<typeof snapshot>

/** Links of one member that work at the same time: more than a person keeps an eye on. */
const MAX_LINKS = 50

const COLUMNS = `snapshot_id AS id, page, title, snapshots.projects, bytes, email AS created_by,
  snapshots.created_at, expires_at`
/** While the maker is a member and may still see what the snapshot is of. */
const IN_FORCE = `expires_at > now() AND disabled_at IS NULL
  AND (members.projects IS NULL OR snapshots.projects <@ members.projects)`

interface NewSnapshot {
  readonly memberId: string
  readonly digest: Uint8Array
  readonly page: SnapshotPage
  readonly title: string
  readonly projects: readonly string[] | null
  readonly content: string
  readonly days: number
}

export function keepSnapshot(database: Database, made: NewSnapshot, actor: Actor): Promise<SnapshotLink> {
  const { memberId, digest, page, title, projects, content, days } = made
  return changeAudited(database, async (sql) => {
    // Locks the member: two links at once must not pass the bound, and a member who is disabled makes none.
    const members = await sql.query(
      `SELECT 1 FROM members WHERE member_id = $1 AND disabled_at IS NULL
         AND (projects IS NULL OR $2::text[] <@ projects) FOR UPDATE`,
      [memberId, projects],
    )
    if (members.length === 0)
      throw new ChangeRefused(
        'exists',
        'Your rights have changed in the meantime. Reload the page, then try again.',
      )
    const [{ count } = { count: 0 }] = await sql.query<{ readonly count: number }>(
      'SELECT count(*)::int AS count FROM snapshots WHERE member_id = $1 AND expires_at > now()',
      [memberId],
    )
    if (count >= MAX_LINKS)
      throw new ChangeRefused('exists', `You have ${MAX_LINKS} snapshot links that work. Revoke one first.`)
    const id = randomUUID()
    const [link] = await answersOf<SnapshotLink>(
      sql,
      `WITH made AS (
         INSERT INTO snapshots (snapshot_id, digest, member_id, page, title, projects, content, bytes, expires_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, now() + $9::int * interval '24 hours') RETURNING *
       )
       SELECT ${COLUMNS} FROM made AS snapshots JOIN members USING (member_id)`,
      [id, digest, memberId, page, title, projects, content, Buffer.byteLength(content), days],
    )
    const detail = { page, title, projects, expires_at: link?.expires_at }
    return { result: link as SnapshotLink, audit: [{ actor, action: 'snapshot.create', target: id, detail }] }
  })
}

/** Links that work, the newest first. `memberId` undefined: of all members. */
export function listSnapshots(sql: Sql, memberId: string | undefined): Promise<SnapshotLink[]> {
  return answersOf<SnapshotLink>(
    sql,
    `SELECT ${COLUMNS} FROM snapshots JOIN members USING (member_id)
     WHERE ${IN_FORCE} AND ($1::uuid IS NULL OR member_id = $1) ORDER BY snapshots.created_at DESC LIMIT 1000`,
    [memberId ?? null],
  )
}

/** Undefined: there is none, it has expired, or its maker may no longer see what it shows. */
export async function findSnapshot(sql: Sql, digest: Uint8Array): Promise<Snapshot | undefined> {
  const [found] = await answersOf<Snapshot>(
    sql,
    `SELECT page, title, snapshots.projects, name AS created_by, snapshots.created_at, expires_at, content
     FROM snapshots JOIN members USING (member_id) WHERE digest = $1 AND ${IN_FORCE}`,
    [digest],
  )
  return found
}

/** `memberId` undefined: made by any member. */
export function revokeSnapshot(
  database: Database,
  id: string,
  memberId: string | undefined,
  actor: Actor,
): Promise<void> {
  return changeAudited(database, async (sql) => {
    const rows = await sql.query(
      'DELETE FROM snapshots WHERE snapshot_id = $1 AND ($2::uuid IS NULL OR member_id = $2) RETURNING 1',
      [id, memberId ?? null],
    )
    if (rows.length === 0)
      throw new ChangeRefused('missing', `There is no snapshot ${id} that you may revoke.`)
    return { result: undefined, audit: [{ actor, action: 'snapshot.revoke', target: id, detail: {} }] }
  })
}
