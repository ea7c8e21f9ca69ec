/** Torana's tables in a database: those that its migrations created and that survive a crash. */
import type { Sql } from '../database.ts'
import { tablesMade } from '../migrate.ts'

export interface Table {
  readonly name: string
  readonly columns: readonly string[]
  /** SQL types, in the order of the columns. */
  readonly types: readonly string[]
  /** The order of its rows: the same everywhere, whatever collation the database has. */
  readonly order: string
}

interface TableRow {
  readonly name: string
  readonly columns: readonly string[]
  readonly types: readonly string[]
  readonly collatable: readonly boolean[]
  readonly key: readonly string[] | null
}

/** Each table after all those that it references. */
export async function tablesIn(sql: Sql): Promise<readonly Table[]> {
  const rows = await sql.query<TableRow>(
    `SELECT class.relname::text AS name,
       array_agg(column_.attname::text ORDER BY column_.attnum) AS columns,
       array_agg(format_type(column_.atttypid, column_.atttypmod) ORDER BY column_.attnum) AS types,
       array_agg(type_.typcollation <> 0 ORDER BY column_.attnum) AS collatable,
       (SELECT array_agg(part.attname::text ORDER BY place) FROM pg_index AS index_,
          unnest(index_.indkey) WITH ORDINALITY AS key_ (number, place)
          JOIN pg_attribute AS part ON part.attnum = key_.number
        WHERE index_.indrelid = class.oid AND index_.indisprimary AND part.attrelid = class.oid) AS key
     FROM pg_class AS class
     JOIN pg_attribute AS column_ ON column_.attrelid = class.oid AND column_.attnum > 0 AND NOT column_.attisdropped
     JOIN pg_type AS type_ ON type_.oid = column_.atttypid
     WHERE class.relnamespace = current_schema()::regnamespace AND class.relkind IN ('r', 'p')
       AND NOT class.relispartition AND class.relpersistence = 'p' AND class.relname = ANY ($1::text[])
     GROUP BY class.oid, class.relname ORDER BY class.relname`,
    [tablesMade()],
  )
  const references = await sql.query<{ child: string; parent: string }>(
    `SELECT child.relname::text AS child, parent.relname::text AS parent FROM pg_constraint
     JOIN pg_class AS child ON child.oid = conrelid JOIN pg_class AS parent ON parent.oid = confrelid
     WHERE contype = 'f' AND child.relnamespace = current_schema()::regnamespace AND conrelid <> confrelid`,
  )
  return inOrder(rows.map(tableOf), references)
}

function tableOf({ name, columns, types, collatable, key }: TableRow): Table {
  const by = key ?? columns
  const order = by.map((column) =>
    collatable[columns.indexOf(column)] ? `${quoted(column)} COLLATE "C"` : quoted(column),
  )
  return { name, columns, types, order: order.join(', ') }
}

function inOrder(
  tables: readonly Table[],
  references: readonly { readonly child: string; readonly parent: string }[],
): readonly Table[] {
  const placed = new Map<string, Table>()
  const place = (table: Table): void => {
    if (placed.has(table.name)) return
    for (const { child, parent } of references) {
      const before = child === table.name ? tables.find(({ name }) => name === parent) : undefined
      if (before !== undefined) place(before)
    }
    placed.set(table.name, table)
  }
  for (const table of tables) place(table)
  return [...placed.values()]
}

export function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}
