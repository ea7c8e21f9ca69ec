/** Whether this node has the TORANA_SECRET that the nodes of its database use. */
import type { Database, Sql } from './database.ts'

export interface SecretFingerprints {
  readonly current: string
  readonly previous: string | undefined
}

/** A mistake that a person must mend: with this secret no stored key, credential or image job could be read. */
export class OtherSecret extends Error {
  constructor() {
    super(
      'TORANA_SECRET: this is not the secret that the nodes of this database use, so every stored key would be refused. ' +
        'Give all nodes the same one. If you changed it on purpose, set TORANA_SECRET_PREVIOUS to the one before. ' +
        'If that is lost, stored keys and credentials are lost too: delete the rows of the table secret_fingerprints, and create them again',
    )
  }
}

/**
 * Notes the secret of a first node. A node with another one is refused, unless its previous secret is a known one: then the secret
 * is being changed. A node without a previous secret ends the change.
 */
export async function checkSecret(
  database: Database,
  { current, previous }: SecretFingerprints,
): Promise<void> {
  await database.transaction(async (sql) => {
    // Nodes that start at the same time come one after another.
    await sql.query('LOCK TABLE secret_fingerprints IN EXCLUSIVE MODE')
    const known = await knownFingerprints(sql)
    const isKnown = known.has(current) || (previous !== undefined && known.has(previous))
    if (known.size > 0 && !isKnown) throw new OtherSecret()
    await sql.query('INSERT INTO secret_fingerprints (fingerprint) VALUES ($1) ON CONFLICT DO NOTHING', [
      current,
    ])
    if (previous !== undefined) return
    await sql.query(
      `DELETE FROM secret_fingerprints WHERE first_used_at <
        (SELECT first_used_at FROM secret_fingerprints WHERE fingerprint = $1)`,
      [current],
    )
  })
}

/** Of all secrets that nodes of this database use. */
export async function knownFingerprints(sql: Sql): Promise<ReadonlySet<string>> {
  const rows = await sql.query<{ fingerprint: string }>('SELECT fingerprint FROM secret_fingerprints')
  return new Set(rows.map(({ fingerprint }) => fingerprint))
}
