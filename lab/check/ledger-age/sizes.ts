/** What an old ledger takes: in PostgreSQL, and in the bucket. */
import { withDatabase } from '../../chaos/ledger-checks.ts'
import type { ColdObject } from './cold.ts'

const TABLES = ['usage_events', 'usage_hours', 'usage_label_hours', 'usage_days', 'sealed_hours'] as const

const SIZES = `
SELECT name, coalesce(sum(pg_total_relation_size(relid)), 0)::bigint AS bytes
FROM unnest($1::text[]) AS name, LATERAL pg_partition_tree(name::regclass) AS part GROUP BY name`

export async function sizesOf(
  databaseUrl: string,
  objects: readonly ColdObject[],
  rows: number,
): Promise<readonly (readonly [string, string])[]> {
  const tables = await withDatabase(databaseUrl, async (client) => {
    const { rows } = await client.query<{ name: string; bytes: string }>(SIZES, [TABLES])
    const whole = await client.query<{ bytes: string }>(
      'SELECT pg_database_size(current_database()) AS bytes',
    )
    return [...rows, { name: 'the whole database', bytes: whole.rows[0]?.bytes ?? '0' }]
  })
  const cold = objects.reduce((sum, { bytes }) => sum + bytes, 0)
  return [
    ...tables.map(({ name, bytes }) => [`size of ${name}`, megabytes(Number(bytes))] as const),
    [
      'size of the bucket',
      `${megabytes(cold)} in ${objects.length} objects, ${(cold / rows).toFixed(1)} bytes an entry`,
    ],
  ]
}

function megabytes(bytes: number): string {
  return `${(bytes / 2 ** 20).toFixed(1)} MB`
}
