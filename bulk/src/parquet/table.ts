/**
 * A Parquet file of a table: a row group per slice, each column one page, compressed by zstd. hyparquet-writer encodes value by value,
 * which is several times the work.
 */
import { zstdCompressSync } from 'node:zlib'
import type { ColumnChunk, FileMetaData, RowGroup, SchemaElement } from 'hyparquet'
import { ByteWriter } from 'hyparquet-writer/src/bytewriter.js'
import { writeMetadata } from 'hyparquet-writer/src/metadata.js'
import { dataPage, dictionaryPage, MAGIC, packed, run, withLength } from './pages.ts'

/** `uuid`: 16 bytes. `time`: microseconds since 1970, UTC. */
export type ColumnType = 'uuid' | 'integer' | 'long' | 'time' | 'text'

export interface TableColumn {
  readonly name: string
  readonly type: ColumnType
  /** No value is null. */
  readonly isRequired: boolean
}

/** The values of one column in one row group. */
export type ColumnValues =
  /** In order and without the null values, as Parquet writes them: little-endian, or the bytes of UUIDs one after another. */
  | { readonly bytes: Uint8Array; readonly present?: Uint8Array | undefined; readonly bounds?: Bounds }
  /** Texts by their place in a dictionary, without the null values. */
  | {
      readonly dictionary: readonly string[]
      readonly places: Uint32Array
      readonly present?: Uint8Array | undefined
    }

/** The smallest and the largest value, by which readers skip row groups. */
export interface Bounds {
  readonly lowest: Uint8Array | bigint
  readonly highest: Uint8Array | bigint
}

/** Bits of a place in a dictionary. A row group has fewer rows than that. */
const MAX_PLACE_BITS = 24
const COMPRESSED = { compress: (plain: Uint8Array) => zstdCompressSync(plain) }

export class TableWriter {
  readonly #columns: readonly TableColumn[]
  readonly #groups: RowGroup[] = []
  #bytes = MAGIC.length

  constructor(columns: readonly TableColumn[]) {
    this.#columns = columns
  }

  /** The first bytes of the file. */
  readonly head: Uint8Array = MAGIC

  /** The bytes of the next row group. `values`: in the order of the columns. */
  group(rows: number, values: readonly ColumnValues[]): Uint8Array {
    const parts: Uint8Array[] = []
    const chunks: ColumnChunk[] = []
    let firstByte = this.#bytes
    for (const [index, column] of this.#columns.entries()) {
      const written = writeColumn(column, rows, values[index] as ColumnValues, firstByte)
      parts.push(...written.parts)
      chunks.push(written.chunk)
      firstByte += written.size
    }
    this.#groups.push({
      columns: chunks,
      total_byte_size: BigInt(firstByte - this.#bytes),
      num_rows: BigInt(rows),
    })
    this.#bytes = firstByte
    return Buffer.concat(parts)
  }

  /** The last bytes of the file. */
  tail(texts: Readonly<Record<string, string>>): Uint8Array {
    const metadata: FileMetaData = {
      version: 2,
      schema: [{ name: 'schema', num_children: this.#columns.length }, ...this.#columns.map(elementOf)],
      num_rows: this.#groups.reduce((sum, { num_rows: rows }) => sum + rows, 0n),
      row_groups: this.#groups,
      key_value_metadata: Object.entries(texts).map(([key, value]) => ({ key, value })),
      created_by: 'Torana',
      metadata_length: 0,
    }
    const writer = new ByteWriter()
    writeMetadata(writer, metadata)
    return Buffer.concat([writer.getBytes(), MAGIC])
  }
}

function writeColumn(column: TableColumn, rows: number, values: ColumnValues, firstByte: number) {
  const isDictionary = 'dictionary' in values
  const pages = []
  const levels = column.isRequired ? [] : [withLength(levelsOf(rows, values.present))]
  if (isDictionary) {
    const { dictionary, places } = values
    const texts = dictionary.map((text) => withLength(Buffer.from(text)))
    pages.push(dictionaryPage(dictionary.length, texts, COMPRESSED))
    const width = Math.max(1, Math.ceil(Math.log2(dictionary.length)))
    if (width > MAX_PLACE_BITS) throw new RangeError(`${dictionary.length} texts in one row group`)
    const indexes = [Uint8Array.of(width), ...packedPlaces(places, width, dictionary.length)]
    pages.push(dataPage(rows, [...levels, ...indexes], { encoding: 'RLE_DICTIONARY', ...COMPRESSED }))
  } else pages.push(dataPage(rows, [...levels, values.bytes], COMPRESSED))
  const size = pages.reduce((sum, { bytes }) => sum + bytes.length, 0)
  const dictionaryBytes = isDictionary ? (pages[0]?.bytes.length ?? 0) : 0
  const bounds = isDictionary ? undefined : values.bounds
  const chunk: ColumnChunk = {
    file_offset: BigInt(firstByte),
    meta_data: {
      type: elementOf(column).type ?? 'BYTE_ARRAY',
      encodings: isDictionary ? ['PLAIN', 'RLE', 'RLE_DICTIONARY'] : ['PLAIN', 'RLE'],
      path_in_schema: [column.name],
      codec: 'ZSTD',
      num_values: BigInt(rows),
      total_uncompressed_size: BigInt(pages.reduce((sum, { plainBytes }) => sum + plainBytes, 0)),
      total_compressed_size: BigInt(size),
      data_page_offset: BigInt(firstByte + dictionaryBytes),
      ...(isDictionary && { dictionary_page_offset: BigInt(firstByte) }),
      ...(bounds && { statistics: { min_value: bounds.lowest, max_value: bounds.highest } }),
    },
  }
  return { parts: pages.map(({ bytes }) => bytes), size, chunk }
}

/** One text is one run: most columns of most ledgers. */
function packedPlaces(places: Uint32Array, width: number, texts: number): readonly Uint8Array[] {
  if (places.length === 0) return []
  return [texts === 1 ? run(places.length, 0) : packed(places, width)]
}

function levelsOf(rows: number, present: Uint8Array | undefined): Uint8Array {
  return present === undefined ? run(rows, 1) : packed(present, 1)
}

function elementOf({ name, type, isRequired }: TableColumn): SchemaElement {
  return { name, repetition_type: isRequired ? 'REQUIRED' : 'OPTIONAL', ...TYPES[type] }
}

const TYPES: Readonly<Record<ColumnType, Omit<SchemaElement, 'name'>>> = {
  uuid: { type: 'FIXED_LEN_BYTE_ARRAY', type_length: 16, logical_type: { type: 'UUID' } },
  integer: { type: 'INT32' },
  long: { type: 'INT64' },
  time: {
    type: 'INT64',
    converted_type: 'TIMESTAMP_MICROS',
    logical_type: { type: 'TIMESTAMP', isAdjustedToUTC: true, unit: 'MICROS' },
  },
  text: { type: 'BYTE_ARRAY', converted_type: 'UTF8', logical_type: { type: 'STRING' } },
}
