/** Reads a Parquet file of a table, one row group after another. */
import { zstdDecompressSync } from 'node:zlib'
import { parquetMetadataAsync, parquetReadObjects, type AsyncBuffer, type FileMetaData } from 'hyparquet'

/** Integers as numbers, longs and times as bigints, ids and texts as strings. */
export type TableValue = string | number | bigint | null
export type TableRow = Readonly<Record<string, TableValue>>

/** Bytes of a file: from the first, included, to the last, excluded. */
export type ReadBytes = (first: number, end: number) => Promise<Uint8Array>

/** Read for the footer, which grows with the row groups: one of a file of a million rows is half of it. */
const FOOTER_BYTES = 64 * 1024

const PARSERS = {
  uuidFromBytes: (bytes: Uint8Array) => uuidOf(bytes),
  timestampFromMicroseconds: (micros: bigint) => micros,
}
const COMPRESSORS = { ZSTD: (bytes: Uint8Array) => zstdDecompressSync(bytes) }

export class TableReader {
  readonly #file: AsyncBuffer
  readonly #metadata: FileMetaData

  private constructor(file: AsyncBuffer, metadata: FileMetaData) {
    this.#file = file
    this.#metadata = metadata
  }

  static async open(byteLength: number, read: ReadBytes): Promise<TableReader> {
    const file: AsyncBuffer = {
      byteLength,
      slice: async (first, end = byteLength) => ownBuffer(await read(first, end)),
    }
    return new TableReader(file, await parquetMetadataAsync(file, { initialFetchSize: FOOTER_BYTES }))
  }

  get groups(): number {
    return this.#metadata.row_groups.length
  }

  /** The smallest and the largest value of a column in a row group. Undefined: the file does not say. */
  bounds(group: number, column: string): readonly [unknown, unknown] | undefined {
    const chunk = this.#metadata.row_groups[group]?.columns.find(
      ({ meta_data: data }) => data?.path_in_schema[0] === column,
    )
    const { min_value: lowest, max_value: highest } = chunk?.meta_data?.statistics ?? {}
    return lowest === undefined || highest === undefined ? undefined : [lowest, highest]
  }

  /** The bytes of a row group in the file. */
  span(group: number): { readonly first: number; readonly end: number } {
    const { columns = [], total_byte_size: size = 0n } = this.#metadata.row_groups[group] ?? {}
    const first = Number(columns[0]?.file_offset ?? 0n)
    return { first, end: first + Number(size) }
  }

  /** All columns, unless some are named. */
  async rows(group: number, columns?: readonly string[]): Promise<readonly TableRow[]> {
    const before = this.#metadata.row_groups.slice(0, group)
    const rowStart = before.reduce((sum, { num_rows: rows }) => sum + Number(rows), 0)
    return (await parquetReadObjects({
      file: this.#file,
      metadata: this.#metadata,
      compressors: COMPRESSORS,
      parsers: PARSERS,
      ...(columns && { columns: [...columns] }),
      rowStart,
      rowEnd: rowStart + Number(this.#metadata.row_groups[group]?.num_rows ?? 0),
    })) as TableRow[]
  }
}

export function uuidOf(bytes: Uint8Array): string {
  const hex = Buffer.from(bytes.buffer, bytes.byteOffset, 16).toString('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`
}

function ownBuffer(bytes: Uint8Array): ArrayBuffer {
  return bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length) as ArrayBuffer
}
