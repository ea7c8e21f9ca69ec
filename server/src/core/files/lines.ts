/** The lines of a file that arrives in parts, each with its true number and offset. */
import { withoutByteOrderMark } from '../text/utf8.ts'

export interface Line {
  /** Counts from 1, blank lines included. */
  readonly number: number
  /** Offset in the file. */
  readonly firstByte: number
  /** Offset of the next line, or the end of the file. */
  readonly endByte: number
  /** Without line break and byte order mark. Undefined when the line is longer than `MAX_LINE_BYTES`, and was not kept. */
  readonly content: Uint8Array | undefined
}

/** Longest line: an edit as JSON with an image of ten megabytes fits; a whole line is held in memory. */
export const MAX_LINE_BYTES = 16 * 1024 * 1024

const NEWLINE = 10
const CARRIAGE_RETURN = 13
const BLANKS = new Set([9, CARRIAGE_RETURN, 32])

export class LineSplitter {
  #number: number
  #firstByte: number
  #kept: Uint8Array[] = []
  #keptBytes = 0

  /** From the middle of a file: the number and offset of the line that begins there. */
  constructor({ firstLine, firstByte } = { firstLine: 1, firstByte: 0 }) {
    this.#number = firstLine
    this.#firstByte = firstByte
  }

  /** The lines that end in this part. They are valid until the next part is given: the part is not copied. */
  *push(piece: Uint8Array): Generator<Line> {
    let start = 0
    for (;;) {
      const end = piece.indexOf(NEWLINE, start)
      if (end === -1) break
      yield this.#line(piece.subarray(start, end), 1)
      start = end + 1
    }
    this.#keep(piece.subarray(start))
  }

  /** The last line, if the file does not end with a line break. */
  *end(): Generator<Line> {
    if (this.#keptBytes > 0) yield this.#line(new Uint8Array(), 0)
  }

  #keep(rest: Uint8Array): void {
    if (rest.length === 0) return
    this.#keptBytes += rest.length
    if (this.#keptBytes > MAX_LINE_BYTES) this.#kept = []
    // A copy: the part belongs to its sender, who may overwrite it.
    else this.#kept.push(new Uint8Array(rest))
  }

  #line(rest: Uint8Array, breakBytes: number): Line {
    const bytes = this.#keptBytes + rest.length
    const whole = bytes > MAX_LINE_BYTES ? undefined : this.#joined(rest, bytes)
    const [number, firstByte] = [this.#number, this.#firstByte]
    this.#kept = []
    this.#keptBytes = 0
    this.#number += 1
    this.#firstByte += bytes + breakBytes
    const content = whole && withoutReturn(firstByte === 0 ? withoutByteOrderMark(whole) : whole)
    return { number, firstByte, endByte: this.#firstByte, content }
  }

  #joined(rest: Uint8Array, bytes: number): Uint8Array {
    if (this.#keptBytes === 0) return rest
    const whole = new Uint8Array(bytes)
    let at = 0
    for (const part of this.#kept) {
      whole.set(part, at)
      at += part.length
    }
    whole.set(rest, at)
    return whole
  }
}

function withoutReturn(line: Uint8Array): Uint8Array {
  return line.at(-1) === CARRIAGE_RETURN ? line.subarray(0, -1) : line
}

/** Spaces, tabs and returns alone: the line holds no request. */
export function isBlank(content: Uint8Array): boolean {
  return content.every((byte) => BLANKS.has(byte))
}
