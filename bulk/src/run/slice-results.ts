/** Results of a slice's batches in corpus order, kept on disk: a slice may have hundreds of megabytes. */
import { closeSync, openSync, readFileSync, readSync, writeSync } from 'node:fs'
import { CommandProblem } from '../command-problem.ts'
import { decodeText, linesIn } from '../json-lines.ts'
import { embeddingsIn, readBlocks, readEmbedding, type ResultLine } from '../vectors/results.ts'
import {
  bytesOf,
  dimensionsIn,
  type NumberType,
  type VectorBlock,
  type VectorSlice,
} from '../vectors/vector-format.ts'
import type { RowError } from './row-error.ts'
import { rowIn } from '../corpus/request-line.ts'
import type { Slice } from './state.ts'

/** Error codes of lines that never ran; their rows are sent again. */
const NOT_RUN = new Set(['batch_expired', 'batch_cancelled'])
/** Vectors that are written to the disk at once. */
const WRITTEN_BYTES = 4 * 1024 * 1024

export class SliceResults implements VectorSlice {
  readonly #slice: Slice
  readonly #type: NumberType
  readonly #file: number
  readonly #ids: (string | undefined)[]
  readonly #errors = new Map<number, RowError>()
  #dimensions: number | undefined
  /** Vectors of consecutive rows not yet on disk. */
  #waiting: Uint8Array[] = []
  #waitingFrom = 0

  constructor(slice: Slice, type: NumberType, { matrix, errors }: { matrix: string; errors: string }) {
    this.#slice = slice
    this.#type = type
    this.#file = openSync(matrix, 'w+')
    this.#ids = Array.from({ length: slice.rows })
    for (const line of readFileSync(errors, 'utf8').split('\n')) {
      if (line === '') continue
      const error = JSON.parse(line) as RowError
      this.#errors.set(error.row, error)
    }
  }

  get dimensions(): number | undefined {
    return this.#dimensions
  }

  /** In the order of the corpus. */
  get errors(): readonly RowError[] {
    return [...this.#errors.values()].sort((one, other) => one.row - other.row)
  }

  get ids(): readonly string[] {
    return this.#ids.filter((id) => id !== undefined)
  }

  isMissing(row: number): boolean {
    return this.#ids[row - this.#slice.firstRow] === undefined && !this.#errors.has(row)
  }

  get missing(): number {
    const { firstRow, rows } = this.#slice
    let count = 0
    for (let row = firstRow; row < firstRow + rows; row += 1) if (this.isMissing(row)) count += 1
    return count
  }

  /** Reads an output or error file. */
  async take(content: AsyncIterable<Uint8Array>): Promise<void> {
    for await (const line of linesIn(decodeText(content))) this.#line(line)
    this.#flush()
  }

  blocks(): AsyncGenerator<VectorBlock> {
    const rowBytes = this.#rowBytes()
    const read = (first: number, count: number): Uint8Array<ArrayBuffer> => {
      const bytes = new Uint8Array(count * rowBytes)
      readSync(this.#file, bytes, 0, bytes.length, first * rowBytes)
      return bytes
    }
    return readBlocks({ ids: this.#ids, rowBytes, type: this.#type, read })
  }

  /** Sets the width for a slice without vectors. */
  assumeDimensions(dimensions: number): void {
    this.#dimensions ??= dimensions
  }

  close(): void {
    closeSync(this.#file)
  }

  #line(text: string | undefined): void {
    if (text === undefined) throw new CommandProblem('A line of the results is longer than any vector.')
    if (text === '') return
    const line = JSON.parse(text) as ResultLine
    const { custom_id, response, error } = line
    const { row, id } = rowIn(custom_id)
    const kept = readEmbedding(embeddingsIn(line)?.[0], this.#type)
    if (kept !== undefined) {
      this.#vector(row, id, kept)
      return
    }
    const said = error ?? response?.body.error
    const code = said?.code ?? 'unknown_error'
    if (NOT_RUN.has(code)) return
    this.#errors.set(row, { row, id, code, message: said?.message ?? 'The gateway did not say why.' })
  }

  #vector(row: number, id: string, kept: Uint8Array): void {
    const index = row - this.#slice.firstRow
    if (!(index >= 0 && index < this.#slice.rows))
      throw new CommandProblem(`The results have the row ${row}, which was not asked for.`)
    const dimensions = dimensionsIn(kept.length, this.#type)
    this.#dimensions ??= dimensions
    if (dimensions !== this.#dimensions)
      throw new CommandProblem(
        `The vector of row ${row} has ${dimensions} dimensions, and others have ${this.#dimensions}.`,
      )
    this.#ids[index] = id
    const isNext = index === this.#waitingFrom + this.#waiting.length
    if (!isNext || this.#waiting.length * kept.length >= WRITTEN_BYTES) this.#flush()
    if (this.#waiting.length === 0) this.#waitingFrom = index
    this.#waiting.push(kept)
  }

  #flush(): void {
    if (this.#waiting.length === 0) return
    const bytes = Buffer.concat(this.#waiting)
    writeSync(this.#file, bytes, 0, bytes.length, this.#waitingFrom * this.#rowBytes())
    this.#waiting = []
  }

  #rowBytes(): number {
    return bytesOf({ type: this.#type, dimensions: this.#dimensions ?? 0 })
  }
}
