/** Results of batches on their way into a vector file: what a line of them holds, and stored rows as blocks of the file. */
import { fillMissing, type NumberType, type VectorBlock } from './vector-format.ts'

/** A line of an output or error file. */
export interface ResultLine {
  readonly id: string
  readonly custom_id: string
  readonly response: {
    readonly status_code: number
    readonly body: {
      readonly model?: string
      readonly data?: readonly { readonly embedding: unknown }[]
      readonly error?: { readonly code: string | null; readonly message: string }
    }
  } | null
  readonly error: { readonly code: string; readonly message: string } | null
}

/** The vectors of a line. Undefined: it failed. */
export function embeddingsIn({ response }: ResultLine): readonly unknown[] | undefined {
  if (response?.status_code !== 200) return undefined
  return response.body.data?.map(({ embedding }) => embedding)
}

/** Little-endian numbers. Undefined: it is an object with vectors of several types. */
export function readEmbedding(embedding: unknown, type: NumberType): Uint8Array<ArrayBuffer> | undefined {
  if (typeof embedding === 'string') return Uint8Array.fromBase64(embedding)
  if (!Array.isArray(embedding)) return undefined
  return new Uint8Array(writeNumbers(embedding as number[], type).buffer)
}

function writeNumbers(numbers: readonly number[], type: NumberType) {
  if (type === 'float32') return Float32Array.from(numbers)
  if (type === 'float16') return Float16Array.from(numbers)
  return type === 'int8' || type === 'binary' ? Int8Array.from(numbers) : Uint8Array.from(numbers)
}

/** Vectors held in memory at a time. */
const BLOCK_BYTES = 4 * 1024 * 1024

export interface StoredRows {
  /** By row. Undefined: the row has no vector. */
  readonly ids: readonly (string | undefined)[]
  readonly rowBytes: number
  readonly type: NumberType
  /** The bytes of this number of rows. Those of rows without a vector may be anything. */
  readonly read: (first: number, count: number) => Uint8Array<ArrayBuffer> | Promise<Uint8Array<ArrayBuffer>>
}

export async function* readBlocks({ ids, rowBytes, type, read }: StoredRows): AsyncGenerator<VectorBlock> {
  const perBlock = Math.max(1, Math.floor(BLOCK_BYTES / rowBytes))
  for (let first = 0; first < ids.length; first += perBlock) {
    const own = ids.slice(first, first + perBlock)
    const bytes = await read(first, own.length)
    const has = own.map((id) => id !== undefined)
    for (const [row, isThere] of has.entries())
      if (!isThere) fillMissing(bytes.subarray(row * rowBytes, (row + 1) * rowBytes), type)
    yield { bytes, ids: own.map((id) => id ?? ''), has }
  }
}
