import type { PriceForm } from '#core/money/price-form.ts'
import type { Actor } from '#ports/audit.ts'
import { ChangeRefused } from '#ports/key-store.ts'
import type { NotedPrice, PriceStore, StoredPrice } from '#ports/prices.ts'
import { reachable } from '../unreachable.ts'
import type { Database } from '../database.ts'
import { changeDirectory } from './directory.ts'

/** Nodes write their observations one after another. An arbitrary number that no other lock of the database uses. */
const PRICES_LOCK = 0x70_72_69_63

const NOTE = `
INSERT INTO price_changes (deployment, before, after, changed_by)
SELECT given.deployment, last.after, given.price, given.changed_by
FROM unnest($1::text[], $2::jsonb[], $3::text[]) AS given (deployment, price, changed_by)
LEFT JOIN LATERAL (
  SELECT after FROM price_changes WHERE price_changes.deployment = given.deployment ORDER BY at DESC LIMIT 1
) AS last ON true
WHERE last.after IS NULL OR last.after->'form' IS DISTINCT FROM given.price->'form'
ON CONFLICT DO NOTHING`

export class PostgresPrices implements PriceStore {
  readonly #database: Database

  constructor(database: Database) {
    this.#database = database
  }

  async read(): Promise<readonly StoredPrice[]> {
    const rows = await reachable(
      this.#database.query<{ deployment: string; price: PriceForm; set_by: string; set_at: Date }>(
        'SELECT * FROM prices ORDER BY deployment',
      ),
    )
    return rows.map((row) => ({
      deployment: row.deployment,
      form: row.price,
      by: row.set_by,
      atMs: row.set_at.getTime(),
    }))
  }

  set(deployment: string, form: PriceForm, before: PriceForm, actor: Actor): Promise<void> {
    return changeDirectory(this.#database, async (sql) => {
      await sql.query(
        `INSERT INTO prices (deployment, price, set_by) VALUES ($1, $2, $3)
         ON CONFLICT (deployment) DO UPDATE SET price = excluded.price, set_by = excluded.set_by, set_at = now()`,
        [deployment, JSON.stringify(form), actor.name],
      )
      const detail = { before, after: form }
      return { result: undefined, audit: [{ actor, action: 'price.set', target: deployment, detail }] }
    })
  }

  forget(deployment: string, actor: Actor): Promise<void> {
    return changeDirectory(this.#database, async (sql) => {
      const [row] = await sql.query<{ price: PriceForm }>(
        'DELETE FROM prices WHERE deployment = $1 RETURNING price',
        [deployment],
      )
      if (row === undefined) throw new ChangeRefused('missing', `No price is stored for ${deployment}.`)
      const detail = { before: row.price }
      return { result: undefined, audit: [{ actor, action: 'price.forget', target: deployment, detail }] }
    })
  }

  async note(prices: readonly NotedPrice[]): Promise<void> {
    await reachable(
      this.#database.transaction(async (sql) => {
        await sql.query('SELECT pg_advisory_xact_lock($1)', [PRICES_LOCK])
        await sql.query(NOTE, [
          prices.map(({ deployment }) => deployment),
          prices.map(({ form, text }) => JSON.stringify({ form, text })),
          prices.map(({ by }) => by),
        ])
      }),
    )
  }
}
