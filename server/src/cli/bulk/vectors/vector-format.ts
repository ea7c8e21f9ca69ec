/**
 * A file of vectors, made slice by slice. What is written never changes again, so that a run that was killed goes on where its
 * last whole slice ends. Only the head may be written anew, in as many bytes, when the number of rows is known.
 */

export type NumberType = 'float32' | 'float16'

export const BYTES_PER_NUMBER: Readonly<Record<NumberType, number>> = { float32: 4, float16: 2 }

/** What a reader should know of the vectors. Written into the file where the format has a place for it. */
export interface VectorFacts {
  readonly model: string
  /** The identity of the vector space; empty if the gateway does not tell. */
  readonly space: string
  readonly dimensions: number
  readonly type: NumberType
}

/** Consecutive rows of a slice. */
export interface VectorBlock {
  /** Little-endian numbers; rows without a vector are NaN. */
  readonly bytes: Uint8Array<ArrayBuffer>
  readonly ids: readonly string[]
  /** For each row, whether it has a vector. */
  readonly has: readonly boolean[]
}

/** All that one batch brought, in the order of the corpus. */
export interface VectorSlice {
  /** The ids of rows that have a vector. */
  readonly ids: readonly string[]
  blocks(): AsyncIterable<VectorBlock>
}

export interface VectorFormat {
  /** `rows` counts what is in the file: nothing is known of it at the beginning. */
  head(rows: number): Uint8Array
  slice(slice: VectorSlice, firstByte: number): AsyncIterable<Uint8Array>
  tail(rows: number): Uint8Array
  /** What the tail needs of slices that were written before, to be handed back after a restart. */
  readonly memory: unknown
  /** Whether rows without a vector have their place in the file. */
  readonly keepsEveryRow: boolean
}

export const VECTOR_ENDINGS = ['.jsonl', '.npy', '.arrow', '.parquet'] as const
export type VectorEnding = (typeof VECTOR_ENDINGS)[number]

export function isVectorEnding(text: string): text is VectorEnding {
  return (VECTOR_ENDINGS as readonly string[]).includes(text)
}

/** The rows of a block that have a vector, one after another. */
export function withVector({ bytes, ids, has }: VectorBlock): Pick<VectorBlock, 'bytes' | 'ids'> {
  if (has.every(Boolean)) return { bytes, ids }
  const rowBytes = bytes.length / has.length
  const kept = has.flatMap((isThere, row) => (isThere ? [row] : []))
  const packed = new Uint8Array(kept.length * rowBytes)
  for (const [place, row] of kept.entries())
    packed.set(bytes.subarray(row * rowBytes, (row + 1) * rowBytes), place * rowBytes)
  return { bytes: packed, ids: kept.map((row) => ids[row] ?? '') }
}

/** As key and value, for formats that keep texts beside their columns. */
export function factTexts({ model, space, dimensions, type }: VectorFacts): ReadonlyMap<string, string> {
  return new Map([
    ['torana.model', model],
    ['torana.space', space],
    ['torana.dimensions', String(dimensions)],
    ['torana.type', type],
  ])
}
