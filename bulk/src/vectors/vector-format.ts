/**
 * A vector file, written slice by slice. Written bytes never change, so a killed run resumes after its last complete slice. Only
 * the head is rewritten, with the same length, when the number of rows is known.
 */

export const NUMBER_TYPES = ['float32', 'float16', 'int8', 'uint8', 'binary', 'ubinary'] as const
/** `binary` and `ubinary` hold eight dimensions in a byte, as int8 and uint8. */
export type NumberType = (typeof NUMBER_TYPES)[number]

const BYTES_PER_NUMBER: Readonly<Record<NumberType, number>> = {
  float32: 4,
  float16: 2,
  int8: 1,
  uint8: 1,
  binary: 1,
  ubinary: 1,
}

export function isSigned(type: NumberType): boolean {
  return type === 'int8' || type === 'binary'
}

/** Types of one byte for each number. */
export function isByte(type: NumberType): boolean {
  return BYTES_PER_NUMBER[type] === 1
}

function dimensionsPerNumber(type: NumberType): number {
  return type === 'binary' || type === 'ubinary' ? 8 : 1
}

/** Numbers of a vector in the file. */
export function numbersOf({ type, dimensions }: Pick<VectorFacts, 'type' | 'dimensions'>): number {
  return Math.ceil(dimensions / dimensionsPerNumber(type))
}

export function bytesOf(facts: Pick<VectorFacts, 'type' | 'dimensions'>): number {
  return numbersOf(facts) * BYTES_PER_NUMBER[facts.type]
}

/** The width of a vector that takes this many bytes. */
export function dimensionsIn(bytes: number, type: NumberType): number {
  return (bytes / BYTES_PER_NUMBER[type]) * dimensionsPerNumber(type)
}

/** The numbers in little-endian bytes that start where a number of the type may. */
export function numbersIn({ buffer, byteOffset, byteLength }: Uint8Array<ArrayBuffer>, type: NumberType) {
  const length = byteLength / BYTES_PER_NUMBER[type]
  if (type === 'float32') return new Float32Array(buffer, byteOffset, length)
  if (type === 'float16') return new Float16Array(buffer, byteOffset, length)
  return isSigned(type)
    ? new Int8Array(buffer, byteOffset, length)
    : new Uint8Array(buffer, byteOffset, length)
}

/** Whole numbers have no NaN: a row without a vector is zeros, and the file of errors names it. */
const NAN_BYTES: Readonly<Record<NumberType, readonly number[]>> = {
  float32: [0, 0, 0xc0, 0x7f],
  float16: [0, 0x7e],
  int8: [0],
  uint8: [0],
  binary: [0],
  ubinary: [0],
}

/** The bytes of a row without a vector. */
export function fillMissing(row: Uint8Array, type: NumberType): void {
  const pattern = NAN_BYTES[type]
  for (let at = 0; at < row.length; at += pattern.length) row.set(pattern, at)
}

/** Metadata of the vectors, written into the file where the format has a place for it. */
export interface VectorFacts {
  readonly model: string
  /** The id of the vector space; empty if the gateway does not report it. */
  readonly space: string
  readonly dimensions: number
  readonly type: NumberType
}

/** Consecutive rows of a slice. */
export interface VectorBlock {
  /** Little-endian numbers; rows without a vector are NaN, or zeros in types that have none. */
  readonly bytes: Uint8Array<ArrayBuffer>
  readonly ids: readonly string[]
  /** For each row, whether it has a vector. */
  readonly has: readonly boolean[]
}

/** Results of one slice, in corpus order. */
export interface VectorSlice {
  /** Ids of rows with a vector. */
  readonly ids: readonly string[]
  blocks(): AsyncIterable<VectorBlock>
}

export interface VectorFormat {
  /** `rows` is the number of rows in the file, 0 before it is known. */
  head(rows: number): Uint8Array
  slice(slice: VectorSlice, firstByte: number): AsyncIterable<Uint8Array>
  tail(rows: number): Uint8Array
  /** State that the tail needs from earlier slices; passed to the constructor after a restart. */
  readonly memory: unknown
  /** Whether the file has rows without a vector. */
  readonly keepsEveryRow: boolean
}

export const VECTOR_ENDINGS = ['.jsonl', '.npy', '.parquet'] as const
export type VectorEnding = (typeof VECTOR_ENDINGS)[number]

export function isVectorEnding(text: string): text is VectorEnding {
  return (VECTOR_ENDINGS as readonly string[]).includes(text)
}

/** Only the rows of a block that have a vector. */
export function withVector({ bytes, ids, has }: VectorBlock): Pick<VectorBlock, 'bytes' | 'ids'> {
  if (has.every(Boolean)) return { bytes, ids }
  const rowBytes = bytes.length / has.length
  const kept = has.flatMap((isThere, row) => (isThere ? [row] : []))
  const packed = new Uint8Array(kept.length * rowBytes)
  for (const [place, row] of kept.entries())
    packed.set(bytes.subarray(row * rowBytes, (row + 1) * rowBytes), place * rowBytes)
  return { bytes: packed, ids: kept.map((row) => ids[row] ?? '') }
}

/** As keys and values, for formats with text metadata. */
export function factTexts({ model, space, dimensions, type }: VectorFacts): ReadonlyMap<string, string> {
  return new Map([
    ['torana.model', model],
    ['torana.space', space],
    ['torana.dimensions', String(dimensions)],
    ['torana.type', type],
  ])
}
