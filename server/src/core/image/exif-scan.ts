/** The orientation in EXIF, which is a small TIFF file. */
import { big, little, startsWith } from './bytes.ts'
import type { Scan, Source } from './scan.ts'

/**
 * Entries of the first directory. They are in the order of their tags, and only some twenty come before the orientation.
 */
const MAX_ENTRIES = 256
const ENTRY_BYTES = 12
const ORIENTATION = 0x0112
const SHORT = 3

/**
 * Whether the EXIF from here to `end` turns the image by a quarter. Unreadable EXIF says nothing, as in browsers: it is no
 * reason to refuse the image. May leave the source anywhere before `end`.
 */
export function* exifTurn(source: Source, end: number): Scan<boolean> {
  const start = source.position
  if (start + 8 > end) return false
  const head = yield* source.look(8)
  const number = startsWith(head, 0, 'II*\0') ? little : startsWith(head, 0, 'MM\0*') ? big : undefined
  if (number === undefined) return false
  const directory = start + number(head, 4, 4)
  if (directory < source.position || directory + 2 > end) return false
  yield* source.passTo(directory)
  const entries = Math.min(number(yield* source.look(2), 0, 2), MAX_ENTRIES)
  for (let index = 0; index < entries && source.position + ENTRY_BYTES <= end; index += 1) {
    const entry = yield* source.look(ENTRY_BYTES)
    if (number(entry, 0, 2) !== ORIENTATION) continue
    const value = number(entry, 8, 2)
    return number(entry, 2, 2) === SHORT && number(entry, 4, 4) === 1 && value >= 5 && value <= 8
  }
  return false
}
