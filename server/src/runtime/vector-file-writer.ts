/** Writes lines of batch results as a file of vectors, in the order of the lines. */
import { openFormat } from 'torana-bulk/format'
import { rowIn } from 'torana-bulk/request-line'
import {
  dimensionsIn,
  fillMissing,
  type VectorBlock,
  type VectorFormat,
  type VectorSlice,
} from 'torana-bulk/vectors'
import { VectorFileProblem, type WantedVectorFile } from '#ports/vector-files.ts'

/** Bytes of vectors that are written together: a row group of Parquet. */
const SLICE_BYTES = 16 * 1024 * 1024

/** As `ChunkResults` writes them. */
interface ResultLine {
  readonly id: string
  readonly custom_id: string
  readonly response: {
    readonly status_code: number
    readonly body: { readonly data?: readonly { readonly embedding: unknown }[] }
  } | null
}

interface ReadLine {
  readonly customId: string
  readonly vector: Uint8Array<ArrayBuffer> | undefined
}

interface Row extends Omit<ReadLine, 'customId'> {
  readonly id: string
}

interface PlacedRow extends Row {
  readonly row: number
}

const MISSING: Row = { id: '', vector: undefined }

export class VectorFileWriter {
  readonly #wanted: WantedVectorFile
  /** Lines that may come after others with a lower number. */
  readonly #read = new Map<number, ReadLine>()
  /** Rows that can be written, in order. */
  #due: PlacedRow[] = []
  #format: VectorFormat | undefined
  #rowBytes = 0
  /** Rows that have a line or a place. */
  #lastRow = -1
  #writtenRows = 0
  #vectors = 0
  #bytes = 0
  #isEnded = false
  #isComplete = false

  constructor(wanted: WantedVectorFile) {
    this.#wanted = wanted
  }

  take(lines: Uint8Array, before: number): void {
    for (const text of Buffer.from(lines.buffer, lines.byteOffset, lines.length)
      .toString('latin1')
      .split('\n'))
      if (text !== '') this.#line(JSON.parse(text) as ResultLine)
    const due = [...this.#read.keys()].filter((number) => number < before).sort((one, other) => one - other)
    for (const number of due) {
      this.#place(this.#read.get(number) as ReadLine)
      this.#read.delete(number)
    }
  }

  end(): void {
    this.take(new Uint8Array(), Infinity)
    this.#isEnded = true
    if (this.#vectors === 0) throw new VectorFileProblem('The batch has no vectors yet.')
  }

  /** Undefined: there are not enough rows for a slice yet, or the file is complete. */
  async next(): Promise<Uint8Array | undefined> {
    // The width is known from the first vector on.
    if (this.#rowBytes === 0 || this.#isComplete) return undefined
    const format = (this.#format ??= await this.#opened())
    const perSlice = Math.max(1, Math.floor(SLICE_BYTES / this.#rowBytes))
    const available = this.#available(format)
    if (available < perSlice && !this.#isEnded) return undefined
    const pieces = this.#bytes === 0 ? [format.head(this.#wanted.rows)] : []
    if (available > 0) {
      const rows = this.#taken(Math.min(perSlice, available), format)
      const firstByte = this.#bytes + sizeOf(pieces)
      for await (const piece of format.slice(this.#slice(rows), firstByte)) pieces.push(piece)
    } else {
      this.#isComplete = true
      pieces.push(format.tail(format.keepsEveryRow ? this.#writtenRows : this.#vectors))
    }
    this.#bytes += sizeOf(pieces)
    return Buffer.concat(pieces)
  }

  #line({ id, custom_id: customId, response }: ResultLine): void {
    const number = Number(id.slice(id.lastIndexOf('_') + 1))
    const data = response?.status_code === 200 ? response.body.data : undefined
    if (data !== undefined && data.length !== 1)
      throw new VectorFileProblem(
        `Line ${number} has ${data.length} vectors, and a file of vectors has one for each line. Download the output as JSON lines.`,
      )
    this.#read.set(number, { customId, vector: data?.[0] && this.#bytesOf(data[0].embedding, number) })
  }

  #bytesOf(embedding: unknown, number: number): Uint8Array<ArrayBuffer> {
    if (typeof embedding === 'string') return Uint8Array.fromBase64(embedding)
    if (Array.isArray(embedding)) return new Uint8Array(this.#numbers(embedding as number[]).buffer)
    throw new VectorFileProblem(
      `Line ${number} has vectors of several types, and a file of vectors has one type. Download the output as JSON lines.`,
    )
  }

  #numbers(numbers: readonly number[]) {
    const type = this.#wanted.numbers
    if (type === 'float32') return Float32Array.from(numbers)
    if (type === 'float16') return Float16Array.from(numbers)
    return type === 'int8' || type === 'binary' ? Int8Array.from(numbers) : Uint8Array.from(numbers)
  }

  #place({ customId, vector }: ReadLine): void {
    const { row, id } = this.#wanted.hasRowIds ? rowIn(customId) : { row: this.#lastRow + 1, id: customId }
    if (!(row > this.#lastRow) || row >= this.#wanted.rows)
      throw new VectorFileProblem(`The results have the row ${row} twice, or beyond the last.`)
    this.#lastRow = row
    if (vector === undefined) return
    this.#checkWidth(vector)
    this.#due.push({ row, id, vector })
    this.#vectors += 1
  }

  #checkWidth({ length }: Uint8Array): void {
    if (this.#rowBytes === 0) this.#rowBytes = length
    if (this.#rowBytes === length) return
    const [one, other] = [this.#rowBytes, length].map((bytes) => dimensionsIn(bytes, this.#wanted.numbers))
    throw new VectorFileProblem(
      `Some vectors have ${one} dimensions and others ${other}. Download the output as JSON lines.`,
    )
  }

  #opened(): Promise<VectorFormat> {
    const { model, space, numbers: type, format } = this.#wanted
    const facts = { model, space, dimensions: dimensionsIn(this.#rowBytes, type), type }
    return openFormat(`.${format}`, facts, undefined)
  }

  /** Rows that can be written now: with their gaps where the format has a place for each. */
  #available({ keepsEveryRow }: VectorFormat): number {
    if (!keepsEveryRow) return this.#due.length
    return (this.#isEnded ? this.#wanted.rows : this.#lastRow + 1) - this.#writtenRows
  }

  #taken(count: number, { keepsEveryRow }: VectorFormat): readonly Row[] {
    if (!keepsEveryRow) {
      const rows = this.#due.slice(0, count)
      this.#due = this.#due.slice(count)
      return rows
    }
    const first = this.#writtenRows
    this.#writtenRows += count
    const rows = Array.from<unknown, Row>({ length: count }, () => MISSING)
    const later = this.#due.findIndex(({ row }) => row >= this.#writtenRows)
    const own = this.#due.slice(0, later === -1 ? undefined : later)
    this.#due = this.#due.slice(own.length)
    for (const { row, ...one } of own) rows[row - first] = one
    return rows
  }

  #slice(rows: readonly Row[]): VectorSlice {
    const [rowBytes, type] = [this.#rowBytes, this.#wanted.numbers]
    return {
      ids: rows.filter(({ vector }) => vector !== undefined).map(({ id }) => id),
      async *blocks(): AsyncGenerator<VectorBlock> {
        const bytes = new Uint8Array(rows.length * rowBytes)
        for (const [index, { vector }] of rows.entries()) {
          const row = bytes.subarray(index * rowBytes, (index + 1) * rowBytes)
          if (vector === undefined) fillMissing(row, type)
          else row.set(vector)
        }
        const has = rows.map(({ vector }) => vector !== undefined)
        yield { bytes, ids: rows.map(({ id }) => id), has }
      },
    }
  }
}

function sizeOf(pieces: readonly Uint8Array[]): number {
  return pieces.reduce((sum, piece) => sum + piece.length, 0)
}
