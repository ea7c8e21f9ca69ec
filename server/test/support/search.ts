/** Looks for what must not be kept: in every table, and in every form that a text can take. */
import type { Database } from '#stores/postgres/database.ts'

/** As text, in base64 at any offset, and in hexadecimal digits. */
export function formsOf(core: string): string[] {
  const shifted = [0, 1, 2].map((shift) =>
    Buffer.from(`${' '.repeat(shift)}${core}`)
      .toString('base64')
      .slice(4, -4),
  )
  return [core, ...shifted, Buffer.from(core).toString('hex')]
}

export async function tablesOf(database: Database): Promise<string[]> {
  const rows = await database.query<{ name: string }>(
    `SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables WHERE schemaname NOT IN ('pg_catalog', 'information_schema')`,
  )
  return rows.map(({ name }) => name)
}

/** Every column as text; bytes as hexadecimal digits. */
export async function textsIn(database: Database, table: string): Promise<string[]> {
  const rows = await database.query<{ text: string }>(`SELECT whole::text AS text FROM ${table} AS whole`)
  return rows.map(({ text }) => text)
}

/** Where something was found, for a message. */
export function around(text: string, part: string): string {
  const at = text.indexOf(part)
  return text.slice(Math.max(0, at - 200), at + 100)
}
