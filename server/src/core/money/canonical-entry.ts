/**
 * The text of an entry from which the hash of a sealed hour is made, so that anyone who has the rows can make it again: from
 * PostgreSQL, or from an exported file.
 *
 * A line is the columns below in this order, as decimal or plain text, an absent value as nothing, with a tab between two columns.
 * The lines of `HASHED_MS` of request ids, in the order of request id, attempt and kind (byte by byte), with a newline between two
 * lines, have one SHA-256. The hash of the hour is the SHA-256 of these hashes, one after another, 32 bytes each. A stretch without
 * entries has none. Corrections are not part of it.
 */

export const CANONICAL_COLUMNS = [
  'request_id',
  'attempt',
  'kind',
  'call_id',
  'node_id',
  'project',
  'key_id',
  'model',
  'deployment',
  'usage',
  'tokens',
  'images',
  'amount_nano',
  'requests',
  'hits',
  'saved_nano',
  'unknown_nano',
  'batch_id',
  'inputs',
] as const

type CanonicalColumn = (typeof CANONICAL_COLUMNS)[number]

/** A row with the columns of `usage_events`. */
export type CanonicalRow = {
  readonly [Column in CanonicalColumn]: string | number | bigint | null | undefined
}

/** Time of request ids under one hash: at twenty thousand entries per second their text is some fifty megabytes. */
export const HASHED_MS = 10_000

export const LINE_SEPARATOR = '\n'
export const COLUMN_SEPARATOR = '\t'

export function canonicalLine(row: CanonicalRow): string {
  let line = String(row.request_id ?? '')
  // A loop: an array for each line takes twice as long, and a ledger has billions of lines.
  for (let place = 1; place < CANONICAL_COLUMNS.length; place += 1) {
    const value = row[CANONICAL_COLUMNS[place] as CanonicalColumn]
    line += value === null || value === undefined ? COLUMN_SEPARATOR : `${COLUMN_SEPARATOR}${value}`
  }
  return line
}

/** Whether `left` comes before `right` in the text: below zero if so. */
export function canonicalOrder(left: CanonicalRow, right: CanonicalRow): number {
  for (const column of ['request_id', 'attempt', 'kind'] as const) {
    const [a, b] = [left[column] ?? '', right[column] ?? '']
    if (a !== b) return a < b ? -1 : 1
  }
  return 0
}
