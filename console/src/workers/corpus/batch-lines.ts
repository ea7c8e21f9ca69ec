/**
 * Makes the lines of a batch of the rows of a file, in two passes: the first measures them, because an upload announces its size; the
 * second makes them. What is decided of long texts in the first holds in the second.
 */
import { rowOf } from 'torana-bulk/corpus'
import { encodeText } from 'torana-bulk/bytes'
import { requestLine } from 'torana-bulk/request-line'
import { cellText } from './profile.ts'
import { countBytes, openSource, type Columns } from './source.ts'

export interface WantedLines {
  readonly file: File
  readonly model: string
  readonly textColumn: string
  /** null: rows are named by their number. */
  readonly idColumn: string | null
  /** null: as wide as the model makes them. */
  readonly dimensions: number | null
  /** Rows with longer texts are asked about. Undefined: none is. */
  readonly longBytes: number | undefined
}

/** Rows count from 0. */
export interface LongRow {
  readonly row: number
  readonly text: string
}

/** Characters that are kept of a long text. 0: the row becomes no line. */
export type Decision = readonly [row: number, characters: number]

export interface MeasuredStep {
  readonly readBytes: number
  readonly long: readonly LongRow[]
}

export interface Measured {
  readonly bytes: number
  readonly lines: number
  readonly rows: number
  /** The first row without a text. Undefined: each has one. */
  readonly firstEmpty: number | undefined
}

const STEP_BYTES = 16 * 1024 * 1024
/** Long texts that are asked about at once. */
const LONG_CHARACTERS = 1024 * 1024
const LONG_ROWS = 500
/** An upload of 8 GB then has a thousand parts, and a part takes part of a second. */
const PART_BYTES = 8 * 1024 * 1024

interface TextRow extends LongRow {
  readonly id: string
}

export class BatchLines {
  readonly #wanted: WantedLines
  readonly #kept = new Map<number, number>()

  constructor(wanted: WantedLines) {
    this.#wanted = wanted
  }

  /** Each step gets the decisions on its long rows. */
  async *measure(): AsyncGenerator<MeasuredStep, Measured, readonly Decision[]> {
    const { file, longBytes = Infinity } = this.#wanted
    const source = await openSource(file)
    let [bytes, lines, rows, asked, characters] = [0, 0, 0, 0, 0]
    let firstEmpty: number | undefined
    let long: TextRow[] = []
    const count = (row: TextRow, text: string): void => {
      bytes += countBytes(this.#line(row, text))
      lines += 1
    }
    const decide = (decisions: readonly Decision[]): void => {
      for (const [row, kept] of decisions) this.#kept.set(row, kept)
      for (const row of long) {
        const text = this.#cut(row)
        if (text !== '') count(row, text)
      }
      long = []
      characters = 0
      asked = source.readBytes()
    }
    for await (const columns of source.rows()) {
      const row = this.#read(columns, rows)
      rows += 1
      if (row.text === '') firstEmpty ??= row.row
      else if (countBytes(row.text) <= longBytes) count(row, row.text)
      else {
        long.push(row)
        characters += row.text.length
      }
      const isFull = characters >= LONG_CHARACTERS || long.length >= LONG_ROWS
      if (isFull || source.readBytes() >= asked + STEP_BYTES)
        decide(yield { readBytes: source.readBytes(), long })
    }
    if (long.length > 0) decide(yield { readBytes: source.readBytes(), long })
    return { bytes, lines, rows, firstEmpty }
  }

  async *parts(): AsyncGenerator<Uint8Array<ArrayBuffer>> {
    const { file, longBytes = Infinity } = this.#wanted
    const source = await openSource(file)
    let lines: string[] = []
    let characters = 0
    let rows = 0
    for await (const columns of source.rows()) {
      const row = this.#read(columns, rows)
      rows += 1
      const text = countBytes(row.text) > longBytes ? this.#cut(row) : row.text
      if (text === '') continue
      const line = this.#line(row, text)
      lines.push(line)
      characters += line.length
      if (characters < PART_BYTES) continue
      yield encodeText(lines.join(''))
      lines = []
      characters = 0
    }
    if (lines.length > 0) yield encodeText(lines.join(''))
  }

  #read(columns: Columns, number: number): TextRow {
    const { textColumn, idColumn } = this.#wanted
    const { row, id } = rowOf(columns, number, { text: undefined, id: idColumn ?? undefined })
    return { row, id, text: Object.hasOwn(columns, textColumn) ? cellText(columns[textColumn]) : '' }
  }

  #cut({ row, text }: LongRow): string {
    return text.slice(0, this.#kept.get(row) ?? 0)
  }

  #line(row: TextRow, text: string): string {
    const { model, dimensions } = this.#wanted
    return requestLine(row, text, { model, type: 'float32', dimensions })
  }
}
