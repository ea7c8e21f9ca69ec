/** Whether this node has the TORANA_SECRET that the nodes of its database use. */
import { OtherSecret } from '#ports/ledger.ts'
import type { Database, Sql } from './database.ts'

export interface SecretFingerprints {
  readonly current: string
  readonly previous: string | undefined
}

/**
 * Stores the fingerprint of a first node's secret. A node with another secret is refused, unless its previous secret is a known one:
 * then the secret is being changed. A node without a previous secret ends the change.
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

/** The fingerprints of all secrets that nodes of this database use. */
export async function knownFingerprints(sql: Sql): Promise<ReadonlySet<string>> {
  const rows = await sql.query<{ fingerprint: string }>('SELECT fingerprint FROM secret_fingerprints')
  return new Set(rows.map(({ fingerprint }) => fingerprint))
}
