import type { Actor } from '#ports/audit.ts'
import type { KeyState } from '#core/keys/key-hygiene.ts'
import type {
  KeyChange,
  KeyFilter,
  KeyMoment,
  KeyPage,
  KeyRecord,
  KeyStore,
  KeyUses,
  NewKey,
  NewSecret,
  ProjectPage,
  ProjectRecord,
  TermsChange,
} from '#ports/key-store.ts'
import { budgetJson, changedKey, changedTerms, keyDetail, refusal, termsDetail } from '../../key-change.ts'
import { reachable } from '../unreachable.ts'
import type { Database, Sql } from '../database.ts'
import { changeDirectory } from './directory.ts'
import { bytesOf, PostgresKeySource } from './key-source.ts'
import {
  BEHIND,
  COUNT_BY_PROJECT,
  COUNT_KEYS,
  FILTER,
  filterValues,
  FIRST_RANK,
  IS_IN,
  RANK,
} from './key-lists.ts'
import { keyOf, projectOf, SELECT_KEYS, type KeyRow, type ProjectRow } from './key-rows.ts'

export class PostgresKeys extends PostgresKeySource implements KeyStore {
  readonly #database: Database

  constructor(database: Database) {
    super(database)
    this.#database = database
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

  async listKeys(page: KeyPage): Promise<readonly KeyRecord[]> {
    const { projects, text, state, ids, order = 'id', after, limit } = page
    const moment = state ?? { nowMs: 0, pepper: '' }
    const rows = await reachable(
      this.#database.query<KeyRow>(
        `${SELECT_KEYS} JOIN (
           SELECT key_id, ${RANK[order]} AS rank FROM keys
           WHERE ${FILTER} AND ($7::text[] IS NULL OR key_id = ANY ($7)) AND ${state ? IS_IN[state.is] : 'true'}
             AND ${BEHIND[order]} AND $8::bigint IS NOT NULL
           ORDER BY ${order === 'id' ? '' : 'rank, '}key_id LIMIT $6
         ) AS page USING (key_id) ORDER BY page.rank, keys.key_id`,
        [
          ...filterValues({ projects, text, ...moment }),
          after?.id ?? '',
          limit,
          ids ?? null,
          after?.rank ?? FIRST_RANK,
        ],
      ),
    )
    return rows.map(keyOf)
  }

  async countKeys(filter: KeyFilter & KeyMoment): Promise<Readonly<Record<KeyState, number>>> {
    const [row] = await reachable(
      this.#database.query<Record<KeyState, number>>(COUNT_KEYS, filterValues(filter)),
    )
    return row as Record<KeyState, number>
  }

  async countByProject(projects: readonly string[], nowMs: number): Promise<ReadonlyMap<string, number>> {
    const rows = await reachable(
      this.#database.query<{ project: string; keys: number }>(COUNT_BY_PROJECT, [projects, new Date(nowMs)]),
    )
    return new Map(rows.map(({ project, keys }) => [project, keys]))
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
      const made = key.needsProject
        ? []
        : await sql.query(
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
      const projectMade = {
        actor,
        action: 'project.create',
        target: project,
        detail: termsDetail(changedTerms({})),
      }
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

  setKey(
    id: string,
    change: KeyChange,
    actor: Actor,
    check?: (before: KeyRecord) => void,
  ): Promise<KeyRecord> {
    return changeDirectory(this.#database, async (sql, version) => {
      const before = await livingKey(sql, id)
      check?.(before)
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

  endOverlap(id: string, actor: Actor): Promise<KeyRecord> {
    return changeDirectory(this.#database, async (sql, version) => {
      await livingKey(sql, id)
      const ended = await sql.query<{ tail: string }>(
        'DELETE FROM key_secrets WHERE key_id = $1 AND valid_until IS NOT NULL RETURNING tail',
        [id],
      )
      if (ended.length > 0) await sql.query('UPDATE keys SET version = $2 WHERE key_id = $1', [id, version])
      const detail = { ended: ended.map(({ tail }) => tail) }
      return {
        result: await keyIn(sql, id),
        audit: ended.length === 0 ? [] : [{ actor, action: 'key.end_overlap', target: id, detail }],
      }
    })
  }

  revokeKey(id: string, actor: Actor, isLeaked = false): Promise<KeyRecord> {
    return changeDirectory(this.#database, async (sql, version) => {
      const before = await keyIn(sql, id)
      if (before.revokedAtMs !== undefined && (before.isLeaked || !isLeaked))
        return { result: before, audit: [] }
      await sql.query(
        'UPDATE keys SET revoked_at = coalesce(revoked_at, now()), leaked = $3, version = $2 WHERE key_id = $1',
        [id, version, isLeaked],
      )
      return {
        result: await keyIn(sql, id),
        audit: [{ actor, action: 'key.revoke', target: id, detail: isLeaked ? { leaked: true } : {} }],
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
