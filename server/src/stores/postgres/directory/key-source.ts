/** The keys as a node reads them. */
import type { KeyRecord, KeySource, KeyUse, ProjectRecord, StoredStanding } from '#ports/key-store.ts'
import type { WorkOwner } from '#ports/keys.ts'
import { reachable } from '../unreachable.ts'
import type { Database } from '../database.ts'
import { keyOf, projectOf, SELECT_KEYS, type KeyRow, type ProjectRow } from './key-rows.ts'

/** Keys converted to records at a time: a few milliseconds, after which other requests get their turn. */
const PAGE_KEYS = 1000

const CHANGED_KEYS = `${SELECT_KEYS} WHERE keys.version > $1 AND keys.key_id > $2
  ORDER BY keys.key_id LIMIT ${PAGE_KEYS}`

const LIVING_KEYS = `${SELECT_KEYS} WHERE keys.revoked_at IS NULL AND keys.key_id > $1
  ORDER BY keys.key_id LIMIT ${PAGE_KEYS}`

const CHANGED_PROJECTS = `SELECT * FROM projects WHERE version > $1 AND deleted_at IS NULL AND project > $2
  ORDER BY project LIMIT ${PAGE_KEYS}`
const STANDING = `
  SELECT EXISTS (SELECT FROM projects WHERE project = $2 AND deleted_at IS NOT NULL) AS is_deleted,
    coalesce((
      SELECT CASE WHEN leaked THEN 'leaked' WHEN revoked_at IS NOT NULL THEN 'revoked' ELSE 'living' END
      FROM keys WHERE key_id = $1
    ), 'missing') AS key`

/** Below the first version. */
const NO_VERSION = -1n

/**
 * Locked rows are left out: another node is marking them, or a person is changing them, and the next minute comes. So nodes never
 * wait for one another here and cannot deadlock.
 */
const MARK_USED = `
  WITH uses AS (SELECT * FROM unnest($1::text[], $2::float8[]) AS use (key_id, at_ms)),
  free AS (
    SELECT keys.key_id, to_timestamp(uses.at_ms / 1000) AS used_at FROM keys JOIN uses USING (key_id)
    WHERE keys.last_used_at IS NULL OR keys.last_used_at < to_timestamp(uses.at_ms / 1000) - interval '30 seconds'
    FOR NO KEY UPDATE OF keys SKIP LOCKED
  )
  UPDATE keys SET last_used_at = free.used_at, first_used_at = coalesce(first_used_at, free.used_at)
  FROM free WHERE keys.key_id = free.key_id`

/** Sorted, so that two nodes cannot deadlock. */
const MARK_DECLARED_USED = `
  INSERT INTO declared_key_uses AS known (key_id, first_used_at, last_used_at)
  SELECT key_id, to_timestamp(at_ms / 1000), to_timestamp(at_ms / 1000)
  FROM unnest($1::text[], $2::float8[]) AS use (key_id, at_ms) ORDER BY key_id
  ON CONFLICT (key_id) DO UPDATE SET last_used_at = excluded.last_used_at
  WHERE known.last_used_at < excluded.last_used_at - interval '30 seconds'`

export class PostgresKeySource implements KeySource {
  readonly #database: Database

  constructor(database: Database) {
    this.#database = database
  }

  async directoryVersion(): Promise<bigint> {
    const [row] = await reachable(
      this.#database.query<{ version: bigint }>(
        'SELECT version FROM directory_version',
        [],
        'directory-version',
      ),
    )
    return (row as { version: bigint }).version
  }

  async markOf(version: bigint): Promise<string | undefined> {
    const [row] = await reachable(
      this.#database.query<{ mark: string }>(
        'SELECT mark FROM directory_marks WHERE version = $1',
        [version],
        'directory-mark',
      ),
    )
    return row?.mark
  }

  async *keysChangedSince(version: bigint | undefined): AsyncIterable<readonly KeyRecord[]> {
    const [text, values] = version === undefined ? [LIVING_KEYS, []] : [CHANGED_KEYS, [version]]
    const ask = (after: string): Promise<readonly KeyRow[]> =>
      reachable(this.#database.query<KeyRow>(text, [...values, after]))
    let page = ask('')
    for (;;) {
      const rows = await page
      const last = rows.length < PAGE_KEYS ? undefined : rows.at(-1)
      if (last !== undefined) {
        // While this page is worked on, the database reads the next. The next round hears of its failure.
        page = ask(last.key_id)
        page.catch(() => {})
      }
      yield rows.map(keyOf)
      if (last === undefined) return
    }
  }

  async *projectsChangedSince(version = NO_VERSION): AsyncIterable<readonly ProjectRecord[]> {
    let after = ''
    for (;;) {
      const rows = await reachable(this.#database.query<ProjectRow>(CHANGED_PROJECTS, [version, after]))
      yield rows.map(projectOf)
      if (rows.length < PAGE_KEYS) return
      after = rows.at(-1)?.project ?? ''
    }
  }

  async findKey(digests: readonly string[]): Promise<KeyRecord | undefined> {
    const [row] = await reachable(
      this.#database.query<KeyRow>(
        `${SELECT_KEYS} WHERE keys.key_id = (SELECT key_id FROM key_secrets WHERE digest = ANY ($1) LIMIT 1)`,
        [digests.map(bytesOf)],
        'find-key',
      ),
    )
    return row && keyOf(row)
  }

  async standingOf({ keyId, project }: Omit<WorkOwner, 'player'>): Promise<StoredStanding> {
    const [row] = await reachable(
      this.#database.query<{ key: StoredStanding['key']; is_deleted: boolean }>(STANDING, [keyId, project]),
    )
    return { key: row?.key ?? 'missing', isProjectDeleted: row?.is_deleted ?? false }
  }

  async renewDigest(digest: string, renewed: { readonly digest: string; readonly pepper: string }) {
    await reachable(
      this.#database.query(
        `UPDATE key_secrets SET digest = $2, pepper = $3
         WHERE digest = $1 AND NOT EXISTS (SELECT 1 FROM key_secrets WHERE digest = $2)`,
        [bytesOf(digest), bytesOf(renewed.digest), renewed.pepper],
      ),
    )
  }

  async markUsed(uses: readonly KeyUse[]): Promise<void> {
    await reachable(this.#database.query(MARK_USED, columnsOfUses(uses), 'mark-used'))
  }

  async markDeclaredUsed(uses: readonly KeyUse[]): Promise<void> {
    await reachable(this.#database.query(MARK_DECLARED_USED, columnsOfUses(uses), 'mark-declared-used'))
  }
}

function columnsOfUses(uses: readonly KeyUse[]): unknown[] {
  return [uses.map(({ keyId }) => keyId), uses.map(({ atMs }) => atMs)]
}

export function bytesOf(digest: string): Buffer {
  return Buffer.from(digest, 'base64')
}
