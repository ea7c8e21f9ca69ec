/** The schema that a database should have, compared with the one that it has. */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { SCHEMA_FILE } from '#package/files.ts'
import type { Sql } from './database.ts'
import { appliedIn, migrationsKnown, newerThanThis } from './migrate.ts'

/**
 * Objects by their definitions, as every version of PostgreSQL writes them: tables, columns, indexes, checks and references, triggers,
 * functions. Partitions have those of their table. An invalid index and a disabled trigger do nothing, so they are left out.
 */
const OBJECTS = `
WITH tables AS (
  SELECT oid, relname FROM pg_class
  WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition
)
SELECT 'table ' || relname AS object FROM tables
UNION ALL SELECT 'column ' || relname || '.' || attname || ' ' || format_type(atttypid, atttypmod)
    || CASE WHEN attnotnull THEN ' NOT NULL' ELSE '' END
  FROM tables JOIN pg_attribute ON attrelid = oid WHERE attnum > 0 AND NOT attisdropped
UNION ALL SELECT 'index ' || replace(pg_get_indexdef(indexrelid, 0, true), ' ON ONLY ', ' ON ')
  FROM tables JOIN pg_index ON indrelid = oid WHERE indisvalid
UNION ALL SELECT 'constraint ' || conname || ' ON ' || relname
  FROM tables JOIN pg_constraint ON conrelid = tables.oid WHERE contype IN ('c', 'f')
UNION ALL SELECT 'trigger ' || tgname || ' ON ' || relname
  FROM tables JOIN pg_trigger ON tgrelid = tables.oid WHERE NOT tgisinternal AND tgenabled <> 'D'
UNION ALL SELECT 'function ' || proname || '(' || pg_get_function_identity_arguments(oid) || ')'
  FROM pg_proc WHERE pronamespace = current_schema()::regnamespace`

/** What the schema of the database lacks, as definitions. Undefined: a newer version of Torana has changed it. */
export async function missingObjects(sql: Sql): Promise<readonly string[] | undefined> {
  if (newerThanThis(await appliedIn(sql)).length > 0) return undefined
  const present = new Set(await objectsIn(sql))
  return expectedObjects().filter((object) => !present.has(object))
}

export async function objectsIn(sql: Sql): Promise<readonly string[]> {
  const rows = await sql.query<{ object: string }>(OBJECTS)
  return rows.map(({ object }) => object).sort()
}

/** The text of `schema.txt`: the migrations that it is of, and a line for each object. */
export function schemaText(objects: readonly string[]): string {
  return [versionLine(), ...objects, ''].join('\n')
}

/** The first line of a file that was made from these migrations. */
export function versionLine(): string {
  const hash = createHash('sha256')
  for (const { sha256 } of migrationsKnown()) hash.update(sha256)
  return `-- Made from migrations ${hash.digest('hex').slice(0, 16)} by npm run generate`
}

function expectedObjects(): readonly string[] {
  return readFileSync(SCHEMA_FILE, 'utf8').split('\n').slice(1, -1)
}
