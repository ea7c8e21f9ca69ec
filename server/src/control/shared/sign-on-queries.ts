/** The sign-on by an identity provider, as the store keeps it: one row. */
import type { SignOnRule } from '#core/access/sign-on-rules.ts'
import type { Sql } from '#stores/postgres/database.ts'

export interface KeptSignOn {
  /** The sealed secret is bound to it. */
  readonly sign_on_id: string
  /** On the button of the sign-in page. null: the host of the issuer. */
  readonly name: string | null
  readonly issuer: string
  readonly client_id: string
  readonly sealed_key: Buffer | null
  readonly sealed_secret: Buffer | null
  readonly rules: readonly SignOnRule[]
}

/** Undefined: there is none. */
export async function readSignOn(sql: Sql): Promise<KeptSignOn | undefined> {
  const [kept] = await sql.query<KeptSignOn>('SELECT * FROM sign_on')
  return kept
}
