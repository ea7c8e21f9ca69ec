import type { Actor } from '#ports/audit.ts'
import type {
  KeyChange,
  KeyPage,
  KeyRecord,
  KeyStore,
  KeyUse,
  KeyUses,
  NewKey,
  NewSecret,
  ProjectPage,
  ProjectRecord,
  TermsChange,
} from '#ports/key-store.ts'
import { budgetJson, changedKey, changedTerms, keyDetail, refusal, termsDetail } from '../../key-change.ts'
import { reachable } from '../away.ts'
import type { Database, Sql } from '../database.ts'
import { changeDirectory } from './directory.ts'
import { keyOf, projectOf, SELECT_KEYS, type KeyRow, type ProjectRow } from './key-rows.ts'

/** So many keys are turned into records in a few milliseconds, and other requests get their turn between portions. */
const PORTION_KEYS = 1000

const CHANGED_KEYS = `
  WITH changed AS (
    SELECT key_id FROM keys WHERE version > $1
    UNION SELECT key_id FROM keys JOIN projects USING (project) WHERE projects.version > $1
  ) ${SELECT_KEYS} WHERE keys.key_id IN (SELECT key_id FROM changed) AND keys.key_id > $2
  ORDER BY keys.key_id LIMIT ${PORTION_KEYS}`

const LIVING_KEYS = `${SELECT_KEYS} WHERE keys.revoked_at IS NULL AND keys.key_id > $1
  ORDER BY keys.key_id LIMIT ${PORTION_KEYS}`

/**
 * Rows that somebody else holds are left out: they are being marked by another node, or changed by a person, and the next
 * minute comes. So nodes never wait for one another here, nor in a circle.
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

/** Sorted, so that two nodes never wait for one another in a circle. */
const MARK_DECLARED_USED = `
  INSERT INTO declared_key_uses AS known (key_id, first_used_at, last_used_at)
  SELECT key_id, to_timestamp(at_ms / 1000), to_timestamp(at_ms / 1000)
  FROM unnest($1::text[], $2::float8[]) AS use (key_id, at_ms) ORDER BY key_id
  ON CONFLICT (key_id) DO UPDATE SET last_used_at = excluded.last_used_at
  WHERE known.last_used_at < excluded.last_used_at - interval '30 seconds'`

export class PostgresKeys implements KeyStore {
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

  async *keysChangedSince(version: bigint | undefined): AsyncIterable<readonly KeyRecord[]> {
    const [text, values] = version === undefined ? [LIVING_KEYS, []] : [CHANGED_KEYS, [version]]
    let after = ''
    for (;;) {
      const rows = await reachable(this.#database.query<KeyRow>(text, [...values, after]))
      yield rows.map(keyOf)
      if (rows.length < PORTION_KEYS) return
      after = rows.at(-1)?.key_id ?? ''
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

  async declaredUses(keyIds: readonly string[]): Promise<ReadonlyMap<string, KeyUses>> {
    const rows = await reachable(
      this.#database.query<{ key_id: string; first_used_at: Date; last_used_at: Date }>(
        'SELECT * FROM declared_key_uses WHERE key_id = ANY ($1)',
        [keyIds],
      ),
    )
    return new Map(
      rows.map(({ key_id: id, first_used_at: first, last_used_at: last }) => [
        id,
        { firstAtMs: first.getTime(), lastAtMs: last.getTime() },
      ]),
    )
  }

  async listKeys({ projects, after = '', limit }: KeyPage): Promise<readonly KeyRecord[]> {
    const rows = await reachable(
      this.#database.query<KeyRow>(
        `${SELECT_KEYS} WHERE keys.key_id > $1 AND ($2::text[] IS NULL OR keys.project = ANY ($2))
         ORDER BY keys.key_id LIMIT $3`,
        [after, projects ?? null, limit],
      ),
    )
    return rows.map(keyOf)
  }

  async listProjects({ projects, after = '', limit }: ProjectPage): Promise<readonly ProjectRecord[]> {
    const rows = await reachable(
      this.#database.query<ProjectRow>(
        `SELECT * FROM projects WHERE project > $1 AND ($2::text[] IS NULL OR project = ANY ($2))
           AND deleted_at IS NULL ORDER BY project LIMIT $3`,
        [after, projects ?? null, limit],
      ),
    )
    return rows.map(projectOf)
  }

  createKey(key: NewKey, actor: Actor): Promise<KeyRecord> {
    const { project, name, secret } = key
    const id = `${project}/${name}`
    const terms = changedKey(key)
    return changeDirectory(this.#database, async (sql, version) => {
      const made = await sql.query(
        'INSERT INTO projects (project, version) VALUES ($1, $2) ON CONFLICT DO NOTHING RETURNING 1',
        [project, version],
      )
      await livingProject(sql, project)
      if ((await sql.query('SELECT 1 FROM keys WHERE key_id = $1', [id])).length > 0)
        throw refusal.keyExists(id)
      await sql.query(
        `INSERT INTO keys (key_id, version, models, limits, budget, expires_at, scopes, max_calls_at_once, addresses,
           project, name)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`,
        [id, version, ...columnsOf(terms), project, name],
      )
      await addSecret(sql, id, secret)
      const projectMade = { actor, action: 'project.create', target: project, detail: termsDetail(NO_TERMS) }
      const detail = { ...keyDetail(terms), secret: secret.tail }
      return {
        result: await keyIn(sql, id),
        audit: [
          ...(made.length > 0 ? [projectMade] : []),
          { actor, action: 'key.create', target: id, detail },
        ],
      }
    })
  }

  setKey(id: string, change: KeyChange, actor: Actor): Promise<KeyRecord> {
    return changeDirectory(this.#database, async (sql, version) => {
      const before = await livingKey(sql, id)
      const after = changedKey(change, before)
      await sql.query(
        `UPDATE keys SET version = $2, models = $3, limits = $4, budget = $5, expires_at = $6, scopes = $7,
           max_calls_at_once = $8, addresses = $9 WHERE key_id = $1`,
        [id, version, ...columnsOf(after)],
      )
      const detail = { before: keyDetail(before), after: keyDetail(after) }
      return {
        result: await keyIn(sql, id),
        audit: [{ actor, action: 'key.set', target: id, detail }],
      }
    })
  }

  rotateKey(id: string, secret: NewSecret, overlapMs: number, actor: Actor): Promise<KeyRecord> {
    return changeDirectory(this.#database, async (sql, version) => {
      const before = await livingKey(sql, id)
      await addSecret(sql, id, secret)
      await sql.query(
        `UPDATE key_secrets SET valid_until = least(valid_until, now() + $3 * interval '1 millisecond')
         WHERE key_id = $1 AND digest <> $2`,
        [id, bytesOf(secret.digest), overlapMs],
      )
      await sql.query('DELETE FROM key_secrets WHERE key_id = $1 AND valid_until <= now()', [id])
      await sql.query('UPDATE keys SET version = $2 WHERE key_id = $1', [id, version])
      const detail = { secret: secret.tail, before: before.secrets[0]?.tail ?? null, overlapMs }
      return {
        result: await keyIn(sql, id),
        audit: [{ actor, action: 'key.rotate', target: id, detail }],
      }
    })
  }

  revokeKey(id: string, actor: Actor): Promise<KeyRecord> {
    return changeDirectory(this.#database, async (sql, version) => {
      const before = await keyIn(sql, id)
      if (before.revokedAtMs !== undefined) return { result: before, audit: [] }
      await sql.query('UPDATE keys SET revoked_at = now(), version = $2 WHERE key_id = $1', [id, version])
      return {
        result: await keyIn(sql, id),
        audit: [{ actor, action: 'key.revoke', target: id, detail: {} }],
      }
    })
  }

  createProject(name: string, change: TermsChange, actor: Actor): Promise<ProjectRecord> {
    const terms = changedTerms(change)
    return changeDirectory(this.#database, async (sql, version) => {
      const [row] = await sql.query<ProjectRow>(
        `INSERT INTO projects (project, limits, budget, version) VALUES ($1, $2, $3, $4)
         ON CONFLICT DO NOTHING RETURNING *`,
        [name, terms.limits, budgetJson(terms.budget), version],
      )
      if (row === undefined) {
        await livingProject(sql, name)
        throw refusal.projectExists(name)
      }
      return {
        result: projectOf(row),
        audit: [{ actor, action: 'project.create', target: name, detail: termsDetail(terms) }],
      }
    })
  }

  setProject(name: string, change: TermsChange, actor: Actor): Promise<ProjectRecord> {
    return changeDirectory(this.#database, async (sql, version) => {
      const before = await livingProject(sql, name)
      const after = changedTerms(change, before)
      const [row] = await sql.query<ProjectRow>(
        'UPDATE projects SET limits = $2, budget = $3, version = $4 WHERE project = $1 RETURNING *',
        [name, after.limits, budgetJson(after.budget), version],
      )
      const detail = { before: termsDetail(before), after: termsDetail(after) }
      return {
        result: projectOf(row as ProjectRow),
        audit: [{ actor, action: 'project.set', target: name, detail }],
      }
    })
  }

  deleteProject(name: string, actor: Actor): Promise<void> {
    return changeDirectory(this.#database, async (sql, version) => {
      await livingProject(sql, name)
      await sql.query('UPDATE projects SET deleted_at = now(), version = $2 WHERE project = $1', [
        name,
        version,
      ])
      const revoked = await sql.query(
        `UPDATE keys SET revoked_at = now(), version = $2 WHERE project = $1 AND revoked_at IS NULL RETURNING 1`,
        [name, version],
      )
      const detail = { keys: revoked.length }
      return {
        result: undefined,
        audit: [{ actor, action: 'project.delete', target: name, detail }],
      }
    })
  }
}

const NO_TERMS = changedTerms({})

async function keyIn(sql: Sql, id: string): Promise<KeyRecord> {
  const [row] = await sql.query<KeyRow>(`${SELECT_KEYS} WHERE keys.key_id = $1`, [id])
  if (row === undefined) throw refusal.noKey(id)
  return keyOf(row)
}

async function livingKey(sql: Sql, id: string): Promise<KeyRecord> {
  const key = await keyIn(sql, id)
  if (key.revokedAtMs !== undefined) throw refusal.revoked(id)
  return key
}

async function livingProject(sql: Sql, name: string): Promise<ProjectRecord> {
  const [row] = await sql.query<ProjectRow>('SELECT * FROM projects WHERE project = $1', [name])
  if (row === undefined) throw refusal.noProject(name)
  if (row.deleted_at !== null) throw refusal.deleted(name)
  return projectOf(row)
}

async function addSecret(sql: Sql, keyId: string, { digest, pepper, tail }: NewSecret): Promise<void> {
  const added = await sql.query(
    'INSERT INTO key_secrets (digest, key_id, pepper, tail) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING RETURNING 1',
    [bytesOf(digest), keyId, pepper, tail],
  )
  if (added.length === 0) throw refusal.secretTaken()
}

/** models, limits, budget, expires_at, scopes, max_calls_at_once, addresses */
function columnsOf(terms: ReturnType<typeof changedKey>): unknown[] {
  const { models, limits, budget, expiresAtMs, scopes, maxCallsAtOnce, addresses } = terms
  const expiresAt = expiresAtMs === undefined ? null : new Date(expiresAtMs)
  return [
    models ?? null,
    limits,
    budgetJson(budget),
    expiresAt,
    scopes ?? null,
    maxCallsAtOnce ?? null,
    addresses ?? null,
  ]
}

function columnsOfUses(uses: readonly KeyUse[]): unknown[] {
  return [uses.map(({ keyId }) => keyId), uses.map(({ atMs }) => atMs)]
}

function bytesOf(digest: string): Buffer {
  return Buffer.from(digest, 'base64')
}
