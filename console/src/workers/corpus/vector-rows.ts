/** Results of a batch as a file of vectors, in the order of its lines. Vectors lie in blobs, so that the browser may keep them on the disk. */
import { openFormat } from 'torana-bulk/format'
import { rowIn } from 'torana-bulk/request-line'
import { embeddingsIn, readBlocks, readEmbedding, type ResultLine } from 'torana-bulk/results'
import { dimensionsIn, type NumberType, type VectorFormat, type VectorSlice } from 'torana-bulk/vectors'

export interface WantedVectors {
  readonly format: 'npy' | 'parquet' | 'jsonl'
  readonly model: string
  /** Empty: unknown. */
  readonly space: string
  readonly type: NumberType
  /** Rows of the file that the batch was made of; custom ids begin with their numbers. Undefined: each line is the next row. */
  readonly rows: number | undefined
}

/** Vectors of one page: browsers keep them in memory, or on a part of the disk. A million of 1,024 dimensions have as many. */
const MAX_BYTES = 4 * 1024 * 1024 * 1024
/** Vectors that are put into a blob together. */
const PIECE_BYTES = 8 * 1024 * 1024
/** Vectors that are written together: a row group of Parquet. */
const SLICE_BYTES = 16 * 1024 * 1024
/** Bytes between two vectors that are read rather than asked for twice. */
const GAP_BYTES = 1024 * 1024
/** Vectors that are read at once. */
const SPAN_BYTES = 16 * 1024 * 1024
/** A place in the order without a vector. */
const NONE = -1

export class VectorRows {
  readonly #wanted: WantedVectors
  /** Of each line as it came: its row, its id, and the place of its vector. */
  readonly #rows: number[] = []
  readonly #ids: string[] = []
  readonly #places: number[] = []
  readonly #pieces: Blob[] = []
  #piece = new Uint8Array()
  #pieceBytes = 0
  #rowBytes = 0
  #vectors = 0
  #model: string | undefined

  constructor(wanted: WantedVectors) {
    this.#wanted = wanted
  }

  /** Takes a line of results or errors, in any order. */
  take(text: string): void {
    const line = JSON.parse(text) as ResultLine
    const number = Number(line.id.slice(line.id.lastIndexOf('_') + 1))
    const embeddings = embeddingsIn(line)
    const { row, id } =
      this.#wanted.rows === undefined ? { row: number, id: line.custom_id } : rowIn(line.custom_id)
    this.#rows.push(row)
    this.#ids.push(id)
    this.#places.push(embeddings === undefined ? NONE : this.#keep(embeddings, line, number))
  }

  /** Yields the share that is written. */
  async *write(): AsyncGenerator<number, Blob> {
    if (this.#vectors === 0) throw new Error('The batch has no vectors yet.')
    this.#flush()
    const { model, space, type, format: name } = this.#wanted
    const { ids, places } = this.#ordered()
    const facts = { model, space, type, dimensions: dimensionsIn(this.#rowBytes, type) }
    const format = await openFormat(`.${name}`, facts, undefined)
    const stored = new Blob(this.#pieces)
    const pieces = [new Blob([own(format.head(ids.length))])]
    let bytes = pieces[0]?.size ?? 0
    const perSlice = Math.max(1, Math.floor(SLICE_BYTES / this.#rowBytes))
    for (let first = 0; first < ids.length; first += perSlice) {
      const end = Math.min(ids.length, first + perSlice)
      const slice = this.#slice(ids.slice(first, end), places.subarray(first, end), stored)
      const piece = await written(format, slice, bytes)
      pieces.push(piece)
      bytes += piece.size
      yield end / ids.length
    }
    const count = format.keepsEveryRow ? ids.length : this.#vectors
    return new Blob([...pieces, own(format.tail(count))], { type: 'application/octet-stream' })
  }

  #keep(embeddings: readonly unknown[], line: ResultLine, number: number): number {
    const { type } = this.#wanted
    if (embeddings.length !== 1)
      throw new Error(
        `Line ${number} has ${embeddings.length} vectors, and a file of vectors has one for each line. Download the responses instead.`,
      )
    const vector = readEmbedding(embeddings[0], type)
    if (vector === undefined)
      throw new Error(
        `Line ${number} has vectors of several types, and a file of vectors has one type. Download the responses instead.`,
      )
    this.#checkModel(line)
    if (this.#rowBytes === 0) this.#rowBytes = vector.length
    if (this.#rowBytes !== vector.length) {
      const [one, other] = [this.#rowBytes, vector.length].map((bytes) => dimensionsIn(bytes, type))
      throw new Error(
        `Some vectors have ${one} dimensions and others ${other}. Download the responses instead.`,
      )
    }
    if ((this.#vectors + 1) * this.#rowBytes > MAX_BYTES)
      throw new Error(
        'The vectors have more than 4 GB, the most that a page can put into a file. Download the responses instead.',
      )
    this.#append(vector)
    this.#vectors += 1
    return this.#vectors - 1
  }

  /** Vectors of two models belong to two spaces, and a file has those of one. */
  #checkModel({ response }: ResultLine): void {
    const model = response?.body.model
    this.#model ??= model
    if (this.#model !== model)
      throw new Error(
        `Some vectors are by ${this.#model} and others by ${model}. Download the responses instead.`,
      )
  }

  #append(vector: Uint8Array): void {
    if (this.#pieceBytes + vector.length > this.#piece.length) {
      this.#flush()
      this.#piece = new Uint8Array(Math.max(PIECE_BYTES, vector.length))
    }
    this.#piece.set(vector, this.#pieceBytes)
    this.#pieceBytes += vector.length
  }

  #flush(): void {
    if (this.#pieceBytes > 0) this.#pieces.push(new Blob([this.#piece.subarray(0, this.#pieceBytes)]))
    this.#piece = new Uint8Array()
    this.#pieceBytes = 0
  }

  /** Ids and places by row. */
  #ordered(): { readonly ids: readonly (string | undefined)[]; readonly places: Float64Array } {
    const { rows: known } = this.#wanted
    const count = known ?? this.#rows.length
    const ids = Array.from<string | undefined>({ length: count })
    const places = new Float64Array(count).fill(NONE)
    const isPlaced = new Uint8Array(count)
    const byRow = this.#rows.map((_, index) => index)
    if (known === undefined) byRow.sort((one, other) => this.#row(one) - this.#row(other))
    for (const [rank, index] of byRow.entries()) {
      const row = known === undefined ? rank : this.#row(index)
      if (!(row >= 0 && row < count) || isPlaced[row] === 1)
        throw new Error(`The results have the row ${row} twice, or beyond the last.`)
      isPlaced[row] = 1
      const place = this.#places[index] ?? NONE
      if (place !== NONE) ids[row] = this.#ids[index]
      places[row] = place
    }
    return { ids, places }
  }

  #row(index: number): number {
    return this.#rows[index] ?? Number.NaN
  }

  #slice(ids: readonly (string | undefined)[], places: Float64Array, stored: Blob): VectorSlice {
    const [rowBytes, type] = [this.#rowBytes, this.#wanted.type]
    const read = (first: number, count: number): Promise<Uint8Array<ArrayBuffer>> =>
      gather(places.subarray(first, first + count), rowBytes, stored)
    return {
      ids: ids.filter((id) => id !== undefined),
      blocks: () => readBlocks({ ids, rowBytes, type, read }),
    }
  }
}

async function written(format: VectorFormat, slice: VectorSlice, firstByte: number): Promise<Blob> {
  const pieces: Uint8Array<ArrayBuffer>[] = []
  for await (const piece of format.slice(slice, firstByte)) pieces.push(own(piece))
  return new Blob(pieces)
}

/** Rows by their places. Neighbours are read together: the lines of a batch are nearly in order. */
async function gather(
  places: Float64Array,
  rowBytes: number,
  stored: Blob,
): Promise<Uint8Array<ArrayBuffer>> {
  const bytes = new Uint8Array(places.length * rowBytes)
  const found = [...places.entries()].filter(([, place]) => place !== NONE).sort(([, a], [, b]) => a - b)
  for (let at = 0; at < found.length;) {
    const first = (found[at]?.[1] ?? 0) * rowBytes
    let end = at + 1
    const byteOf = (index: number): number => (found[index]?.[1] ?? Infinity) * rowBytes
    while (byteOf(end) - byteOf(end - 1) <= GAP_BYTES && byteOf(end) - first < SPAN_BYTES) end += 1
    const span = new Uint8Array(await stored.slice(first, byteOf(end - 1) + rowBytes).arrayBuffer())
    for (; at < end; at += 1) {
      const from = byteOf(at) - first
      bytes.set(span.subarray(from, from + rowBytes), (found[at]?.[0] ?? 0) * rowBytes)
    }
  }
  return bytes
}

/** The formats make their bytes in memory of their own. */
function own(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  return bytes as Uint8Array<ArrayBuffer>
}
