/**
 * A backup is one gzip file of JSON lines: a head; then each table with its columns, its rows (each a list of texts, as PostgreSQL
 * writes values) and its end; then each image; and a last line, without which the file is incomplete.
 */
import { z } from 'zod'

export const FORMAT = 1

const migration = z.object({ version: z.int(), name: z.string(), sha256: z.string() })
/** Bounds have the form of a UUID, but no version. `by`: it has partitions of its own. */
const partition = z.object({
  name: z.string(),
  of: z.string(),
  from: z.guid(),
  to: z.guid(),
  by: z.literal('day').optional(),
})

const head = z.object({
  torana_backup: z.int(),
  version: z.string(),
  made_at: z.iso.datetime(),
  migrations: z.array(migration),
  partitions: z.array(partition),
})
const table = z.object({ table: z.string(), columns: z.array(z.string()).min(1) })
const row = z.array(z.string().nullable())
const end = z.object({
  end: z.string(),
  rows: z.int(),
  sha256: z.string(),
  in_files_before: z.string().optional(),
})
/** A large blob takes several lines: `from` is the offset of this line's data. */
const blob = z.object({ blob: z.string(), size: z.int(), from: z.int().optional(), data: z.base64() })
const complete = z.object({ complete: z.literal(true), tables: z.int(), blobs: z.int() })

export type BackupHead = z.output<typeof head>
export type BackupPartition = z.output<typeof partition>
type TableHead = z.output<typeof table>
export type Row = z.output<typeof row>
type TableEnd = z.output<typeof end>
export type BlobLine = z.output<typeof blob>
type Completion = z.output<typeof complete>

/** The field of a report. */
export function inFiles(inFilesBefore: string | undefined): { readonly inFilesBefore?: string } {
  return inFilesBefore === undefined ? {} : { inFilesBefore }
}

/** The file cannot be used: it is not a backup, has another version, or was truncated or changed. */
export class BackupProblem extends Error {
  override readonly name = 'BackupProblem'
}

export type Line =
  | { readonly kind: 'head'; readonly head: BackupHead }
  | { readonly kind: 'table'; readonly table: TableHead }
  | { readonly kind: 'row'; readonly row: Row }
  | { readonly kind: 'end'; readonly end: TableEnd }
  | { readonly kind: 'blob'; readonly blob: BlobLine }
  | { readonly kind: 'complete'; readonly complete: Completion }

/** Throws a `BackupProblem`. */
export function readLine(text: string): Line {
  const value = parsed(text)
  // Most lines are rows.
  if (Array.isArray(value)) return { kind: 'row', row: valid(row, value) }
  if (value === null || typeof value !== 'object') throw new BackupProblem('a line is none of a backup')
  if ('table' in value) return { kind: 'table', table: valid(table, value) }
  if ('end' in value) return { kind: 'end', end: valid(end, value) }
  if ('blob' in value) return { kind: 'blob', blob: valid(blob, value) }
  if ('complete' in value) return { kind: 'complete', complete: valid(complete, value) }
  return { kind: 'head', head: valid(head, value) }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new BackupProblem('a line is not JSON')
  }
}

function valid<Schema extends z.ZodType>(schema: Schema, value: unknown): z.output<Schema> {
  const { success, data } = schema.safeParse(value)
  if (!success) throw new BackupProblem('a line is none of a backup')
  return data
}
