import type { Actor } from '#ports/audit.ts'
import { randomUUID } from 'node:crypto'
import type { CredentialRecord, CredentialStore, NewCredential, SealingKeys } from '#ports/credentials.ts'
import { secretTail } from '#core/keys/key.ts'
import { openSecret, sealSecret } from '../../envelope.ts'
import { reachable } from '../unreachable.ts'
import type { AuditedChange } from '../audit.ts'
import type { Database, Sql } from '../database.ts'
import { changeDirectory } from './directory.ts'

interface CredentialRow {
  readonly credential_id: string
  readonly upstream: string
  readonly base_url: string
  readonly sealed_key: Buffer | null
  readonly sealed_secret: Buffer | null
  readonly updated_at: Date
  readonly tail: string | null
}

export class PostgresCredentials implements CredentialStore {
  readonly #database: Database
  readonly #keys: SealingKeys

  constructor(database: Database, keys: SealingKeys) {
    this.#database = database
    this.#keys = keys
  }

  put(credential: NewCredential, actor: Actor): Promise<CredentialRecord> {
    return changeDirectory(this.#database, (sql) => putCredential(sql, credential, this.#keys, actor))
  }

  async open(upstream: string, address: string): Promise<string | undefined> {
    const [row] = await reachable(
      this.#database.query<CredentialRow>('SELECT * FROM upstream_credentials WHERE upstream = $1', [
        upstream,
      ]),
    )
    if (row === undefined || row.sealed_key === null || row.sealed_secret === null) return undefined
    if (row.base_url !== address) return undefined
    const envelope = { sealedKey: row.sealed_key, sealedSecret: row.sealed_secret }
    const { secret, renewedKey } = openSecret(envelope, row.credential_id, this.#keys)
    if (renewedKey) {
      await reachable(
        this.#database.query(
          'UPDATE upstream_credentials SET sealed_key = $3 WHERE credential_id = $1 AND sealed_key = $2',
          [row.credential_id, row.sealed_key, renewedKey],
        ),
      )
    }
    return secret
  }

  setBaseUrl(upstream: string, baseUrl: string, actor: Actor): Promise<CredentialRecord | undefined> {
    return changeDirectory(this.#database, (sql) => bindCredential(sql, upstream, baseUrl, actor))
  }

  drop(upstream: string, actor: Actor): Promise<CredentialRecord | undefined> {
    return changeDirectory(this.#database, (sql) => dropSecret(sql, upstream, actor))
  }

  async list(): Promise<readonly CredentialRecord[]> {
    const rows = await reachable(
      this.#database.query<CredentialRow>('SELECT * FROM upstream_credentials ORDER BY upstream COLLATE "C"'),
    )
    return rows.map(recordOf)
  }
}

/** Within the change of a directory, as the two below. */
export async function putCredential(
  sql: Sql,
  { upstream, baseUrl, secret }: NewCredential,
  keys: SealingKeys,
  actor: Actor,
): Promise<AuditedChange<CredentialRecord>> {
  const id = randomUUID()
  const { sealedKey, sealedSecret } = sealSecret(secret, id, keys)
  const [row] = await sql.query<CredentialRow>(
    `INSERT INTO upstream_credentials (credential_id, upstream, base_url, sealed_key, sealed_secret, tail)
     VALUES ($1, $2, $3, $4, $5, $6)
     ON CONFLICT (upstream) DO UPDATE SET credential_id = excluded.credential_id, base_url = excluded.base_url,
       sealed_key = excluded.sealed_key, sealed_secret = excluded.sealed_secret, tail = excluded.tail, updated_at = now()
     RETURNING *`,
    [id, upstream, baseUrl, sealedKey, sealedSecret, secretTail(secret) ?? null],
  )
  return {
    result: recordOf(row as CredentialRow),
    audit: [{ actor, action: 'credential.put', target: upstream, detail: { baseUrl } }],
  }
}

export async function bindCredential(
  sql: Sql,
  upstream: string,
  baseUrl: string,
  actor: Actor,
): Promise<AuditedChange<CredentialRecord | undefined>> {
  const before = await credentialIn(sql, upstream)
  if (before === undefined || before.base_url === baseUrl)
    return { result: before && recordOf(before), audit: [] }
  const detail = { before: before.base_url, after: baseUrl, dropped: before.sealed_secret !== null }
  return {
    result: await emptied(sql, upstream, baseUrl),
    audit: [{ actor, action: 'credential.set', target: upstream, detail }],
  }
}

export async function dropSecret(
  sql: Sql,
  upstream: string,
  actor: Actor,
): Promise<AuditedChange<CredentialRecord | undefined>> {
  const before = await credentialIn(sql, upstream)
  if (before === undefined || before.sealed_secret === null)
    return { result: before && recordOf(before), audit: [] }
  return {
    result: await emptied(sql, upstream, before.base_url),
    audit: [{ actor, action: 'credential.drop', target: upstream, detail: { baseUrl: before.base_url } }],
  }
}

async function credentialIn(sql: Sql, upstream: string): Promise<CredentialRow | undefined> {
  const [row] = await sql.query<CredentialRow>('SELECT * FROM upstream_credentials WHERE upstream = $1', [
    upstream,
  ])
  return row
}

async function emptied(sql: Sql, upstream: string, baseUrl: string): Promise<CredentialRecord> {
  const [row] = await sql.query<CredentialRow>(
    `UPDATE upstream_credentials SET base_url = $2, sealed_key = NULL, sealed_secret = NULL, tail = NULL, updated_at = now()
     WHERE upstream = $1 RETURNING *`,
    [upstream, baseUrl],
  )
  return recordOf(row as CredentialRow)
}

function recordOf(row: CredentialRow): CredentialRecord {
  return {
    upstream: row.upstream,
    baseUrl: row.base_url,
    hasSecret: row.sealed_secret !== null,
    updatedAtMs: row.updated_at.getTime(),
    tail: row.tail ?? undefined,
  }
}
