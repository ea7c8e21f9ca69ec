import { randomUUID } from 'node:crypto'
import type { SignOnRule } from '#core/sign-on-rules.ts'
import type { Actor } from '#ports/audit.ts'
import type { SealingKeys } from '#ports/credentials.ts'
import type { SignOnChange, SignOnRecord, SignOnSettings, SignOnStore } from '#ports/sign-on.ts'
import { openSecret, sealSecret } from '../../envelope.ts'
import { reachable } from '../away.ts'
import type { Database, Sql } from '../database.ts'
import { changePeople } from './rows.ts'

interface SignOnRow {
  readonly sign_on_id: string
  readonly name: string | null
  readonly issuer: string
  readonly client_id: string
  readonly sealed_key: Buffer | null
  readonly sealed_secret: Buffer | null
  readonly rules: readonly SignOnRule[]
}

export class PostgresSignOn implements SignOnStore {
  readonly #database: Database
  readonly #keys: SealingKeys

  constructor(database: Database, keys: SealingKeys) {
    this.#database = database
    this.#keys = keys
  }

  async read(): Promise<SignOnRecord | undefined> {
    const row = await reachable(rowIn(this.#database))
    return row && recordOf(row)
  }

  async open(): Promise<SignOnSettings | undefined> {
    const row = await reachable(rowIn(this.#database))
    if (!row) return undefined
    const { hasSecret: _, ...record } = recordOf(row)
    if (row.sealed_key === null || row.sealed_secret === null) return { ...record, clientSecret: undefined }
    const envelope = { sealedKey: row.sealed_key, sealedSecret: row.sealed_secret }
    const { secret, renewedKey } = openSecret(envelope, row.sign_on_id, this.#keys)
    if (renewedKey)
      await reachable(
        this.#database.query('UPDATE sign_on SET sealed_key = $2 WHERE sign_on_id = $1', [
          row.sign_on_id,
          renewedKey,
        ]),
      )
    return { ...record, clientSecret: secret }
  }

  put({ name, issuer, clientId, clientSecret, rules }: SignOnChange, actor: Actor): Promise<SignOnRecord> {
    return changePeople(this.#database, async (sql) => {
      const before = await rowIn(sql)
      // Whoever may change the issuer must not learn the secret of the one before by it.
      const isKept = clientSecret === undefined && before?.issuer === issuer
      const id = isKept ? before.sign_on_id : randomUUID()
      const sealed = isKept
        ? { sealedKey: before.sealed_key, sealedSecret: before.sealed_secret }
        : clientSecret === undefined
          ? { sealedKey: null, sealedSecret: null }
          : sealSecret(clientSecret, id, this.#keys)
      const [row] = await sql.query<SignOnRow>(
        `INSERT INTO sign_on (sign_on_id, name, issuer, client_id, sealed_key, sealed_secret, rules)
         VALUES ($1, $2, $3, $4, $5, $6, $7)
         ON CONFLICT (only_row) DO UPDATE SET sign_on_id = excluded.sign_on_id, name = excluded.name,
           issuer = excluded.issuer, client_id = excluded.client_id, sealed_key = excluded.sealed_key,
           sealed_secret = excluded.sealed_secret, rules = excluded.rules, updated_at = now()
         RETURNING *`,
        [id, name ?? null, issuer, clientId, sealed.sealedKey, sealed.sealedSecret, JSON.stringify(rules)],
      )
      const after = recordOf(row as SignOnRow)
      const detail = {
        before: before ? recordOf(before) : null,
        after,
        newSecret: clientSecret !== undefined,
      }
      return { result: after, audit: [{ actor, action: 'sign_on.put', target: issuer, detail }] }
    })
  }

  drop(actor: Actor): Promise<void> {
    return changePeople(this.#database, async (sql) => {
      const [row] = await sql.query<SignOnRow>('DELETE FROM sign_on RETURNING *')
      const action = { actor, action: 'sign_on.drop', detail: {} }
      return { result: undefined, audit: row ? [{ ...action, target: row.issuer }] : [] }
    })
  }
}

async function rowIn(sql: Sql): Promise<SignOnRow | undefined> {
  const [row] = await sql.query<SignOnRow>('SELECT * FROM sign_on')
  return row
}

function recordOf(row: SignOnRow): SignOnRecord {
  return {
    name: row.name ?? undefined,
    issuer: row.issuer,
    clientId: row.client_id,
    hasSecret: row.sealed_secret !== null,
    rules: row.rules,
  }
}
