/** Changes of the sign-on. Its secret is sealed, and goes to the issuer alone that it was stored for. */
import { randomUUID } from 'node:crypto'
import type { Actor } from '#ports/audit.ts'
import type { SealingKeys } from '#ports/credentials.ts'
import { sealSecret } from '#stores/envelope.ts'
import { changeAudited } from '#stores/postgres/audit.ts'
import type { Database } from '#stores/postgres/database.ts'
import { readSignOn, type KeptSignOn } from '../shared/sign-on-queries.ts'

export interface SignOnChange extends Pick<KeptSignOn, 'name' | 'issuer' | 'client_id' | 'rules'> {
  /** Undefined: as before, if the issuer is as before; else none. */
  readonly client_secret?: string | undefined
}

export function putSignOn(
  database: Database,
  { name, issuer, client_id: clientId, client_secret: secret, rules }: SignOnChange,
  { keys, actor }: { readonly keys: SealingKeys; readonly actor: Actor },
): Promise<KeptSignOn> {
  return changeAudited(database, async (sql) => {
    const before = await readSignOn(sql)
    // A person who may change the issuer must not learn the secret of the one before by it.
    const isKept = secret === undefined && before?.issuer === issuer
    const id = isKept ? before.sign_on_id : randomUUID()
    const sealed = secret === undefined ? undefined : sealSecret(secret, id, keys)
    const [after] = await sql.query<KeptSignOn>(
      `INSERT INTO sign_on (sign_on_id, name, issuer, client_id, sealed_key, sealed_secret, rules)
       VALUES ($1, $2, $3, $4, $5, $6, $7)
       ON CONFLICT (only_row) DO UPDATE SET sign_on_id = excluded.sign_on_id, name = excluded.name,
         issuer = excluded.issuer, client_id = excluded.client_id, sealed_key = excluded.sealed_key,
         sealed_secret = excluded.sealed_secret, rules = excluded.rules, updated_at = now()
       RETURNING *`,
      [
        id,
        name,
        issuer,
        clientId,
        isKept ? before.sealed_key : (sealed?.sealedKey ?? null),
        isKept ? before.sealed_secret : (sealed?.sealedSecret ?? null),
        JSON.stringify(rules),
      ],
    )
    const result = after as KeptSignOn
    const detail = {
      before: before ? shownInAudit(before) : null,
      after: shownInAudit(result),
      newSecret: secret !== undefined,
    }
    return { result, audit: [{ actor, action: 'sign_on.put', target: issuer, detail }] }
  })
}

export function dropSignOn(database: Database, actor: Actor): Promise<void> {
  return changeAudited(database, async (sql) => {
    const dropped = await sql.query<KeptSignOn>('DELETE FROM sign_on RETURNING *')
    const action = { actor, action: 'sign_on.drop', detail: {} }
    return { result: undefined, audit: dropped.map(({ issuer }) => ({ ...action, target: issuer })) }
  })
}

function shownInAudit({ name, issuer, client_id: clientId, sealed_secret: sealed, rules }: KeptSignOn) {
  return { name: name ?? undefined, issuer, clientId, hasSecret: sealed !== null, rules }
}
