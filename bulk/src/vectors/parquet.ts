/**
 * Parquet: a row group per slice, uncompressed, since compression gains nothing on vectors. This file builds the pages itself:
 * hyparquet-writer encodes a list number by number, which is 40 times the work. Its Thrift writer writes headers and footer.
 */
import type { FileMetaData, RowGroup, SchemaElement } from 'hyparquet'
import { ByteWriter } from 'hyparquet-writer/src/bytewriter.js'
import { writeMetadata } from 'hyparquet-writer/src/metadata.js'
import { encodeText, joinBytes } from '../bytes.ts'
import { dataPage, dictionaryPage, MAGIC, run, varint, withLength } from '../parquet/pages.ts'
import { arrowSchema } from './arrow-schema.ts'
import { factTexts, isByte, isSigned, numbersOf, withVector } from './vector-format.ts'
import type { NumberType, VectorFacts, VectorFormat, VectorSlice } from './vector-format.ts'

/** Position of the two columns of a row group. */
interface Group {
  readonly rows: number
  readonly firstByte: number
  readonly idBytes: number
  readonly vectorBytes: number
}

const IDS_PER_PAGE = 10_000

export class ParquetFormat implements VectorFormat {
  readonly memory: Group[]
  readonly keepsEveryRow = false
  readonly #facts: VectorFacts

  constructor(facts: VectorFacts, memory: unknown) {
    this.memory = (memory as Group[] | undefined) ?? []
    this.#facts = facts
  }

  head(): Uint8Array {
    return MAGIC
  }

  async *slice(slice: VectorSlice, firstByte: number): AsyncGenerator<Uint8Array> {
    const { ids } = slice
    if (ids.length === 0) return
    let idBytes = 0
    for (let first = 0; first < ids.length; first += IDS_PER_PAGE) {
      const page = idPage(ids.slice(first, first + IDS_PER_PAGE))
      idBytes += page.length
      yield page
    }
    let vectorBytes = 0
    if (isByte(this.#facts.type)) {
      const page = valuesOfByte(this.#facts.type)
      vectorBytes += page.length
      yield page
    }
    for await (const block of slice.blocks()) {
      const { bytes, ids: ownIds } = withVector(block)
      if (ownIds.length === 0) continue
      const page = this.#vectorPage(ownIds.length, bytes)
      vectorBytes += page.length
      yield page
    }
    this.memory.push({ rows: ids.length, firstByte, idBytes, vectorBytes })
  }

  tail(): Uint8Array {
    const writer = new ByteWriter()
    writeMetadata(writer, this.#metadata())
    return joinBytes([writer.getBytes(), MAGIC])
  }

  /** All rows have the same width and no nulls, so the levels are a few runs. */
  #vectorPage(rows: number, bytes: Uint8Array): Uint8Array {
    const numbers = numbersOf(this.#facts)
    const rowLevels = joinBytes([run(1, 0), ...(numbers > 1 ? [run(numbers - 1, 1)] : [])])
    const repetition = joinBytes(Array.from({ length: rows }, () => rowLevels))
    const levels = [withLength(repetition), withLength(run(rows * numbers, 1))]
    return isByte(this.#facts.type)
      ? dataPage(rows * numbers, [...levels, ...dictionaryIndexes(bytes)], { encoding: 'RLE_DICTIONARY' })
          .bytes
      : dataPage(rows * numbers, [...levels, bytes]).bytes
  }

  #metadata(): FileMetaData {
    const rows = this.memory.reduce((sum, group) => sum + group.rows, 0)
    const texts = new Map(factTexts(this.#facts))
    texts.set('ARROW:schema', arrowSchema(this.#facts).toBase64())
    return {
      version: 2,
      schema: this.#schema(),
      num_rows: BigInt(rows),
      row_groups: this.memory.map((group) => this.#rowGroup(group)),
      key_value_metadata: [...texts].map(([key, value]) => ({ key, value })),
      created_by: 'Torana',
      metadata_length: 0,
    }
  }

  #schema(): SchemaElement[] {
    const number: SchemaElement = {
      name: 'element',
      repetition_type: 'REQUIRED',
      ...numberElement(this.#facts.type),
    }
    return [
      { name: 'schema', num_children: 2 },
      {
        name: 'id',
        type: 'BYTE_ARRAY',
        repetition_type: 'REQUIRED',
        converted_type: 'UTF8',
        logical_type: { type: 'STRING' },
      },
      {
        name: 'vector',
        repetition_type: 'REQUIRED',
        num_children: 1,
        converted_type: 'LIST',
        logical_type: { type: 'LIST' },
      },
      { name: 'list', repetition_type: 'REPEATED', num_children: 1 },
      number,
    ]
  }

  #rowGroup({ rows, firstByte, idBytes, vectorBytes }: Group): RowGroup {
    const { type } = this.#facts
    const column = (at: number, bytes: number, values: number) => ({
      encodings: ['PLAIN' as const, 'RLE' as const],
      codec: 'UNCOMPRESSED' as const,
      num_values: BigInt(values),
      total_uncompressed_size: BigInt(bytes),
      total_compressed_size: BigInt(bytes),
      data_page_offset: BigInt(at),
    })
    const ids = { type: 'BYTE_ARRAY' as const, path_in_schema: ['id'], ...column(firstByte, idBytes, rows) }
    const vectors = {
      type: numberElement(type).type,
      path_in_schema: ['vector', 'list', 'element'],
      ...column(firstByte + idBytes, vectorBytes, rows * numbersOf(this.#facts)),
      ...(isByte(type) && {
        encodings: ['PLAIN' as const, 'RLE' as const, 'RLE_DICTIONARY' as const],
        dictionary_page_offset: BigInt(firstByte + idBytes),
        data_page_offset: BigInt(firstByte + idBytes + valuesOfByte(type).length),
      }),
    }
    return {
      columns: [ids, vectors].map((meta_data) => ({ file_offset: meta_data.data_page_offset, meta_data })),
      total_byte_size: BigInt(idBytes + vectorBytes),
      num_rows: BigInt(rows),
    }
  }
}

/** Parquet's smallest number has four bytes; of the byte types it says so, and their values come from a dictionary. */
function numberElement(type: NumberType) {
  if (type === 'float32') return { type: 'FLOAT' as const }
  if (type === 'float16')
    return {
      type: 'FIXED_LEN_BYTE_ARRAY' as const,
      type_length: 2,
      logical_type: { type: 'FLOAT16' as const },
    }
  // Without the logical type of the same meaning: hyparquet-writer writes its width in four bytes, which other readers refuse.
  return {
    type: 'INT32' as const,
    converted_type: isSigned(type) ? ('INT_8' as const) : ('UINT_8' as const),
  }
}

const BYTE_VALUES = 256

/** All values of a byte, so that the bytes of vectors are their own places in it: one byte for each number. */
function valuesOfByte(type: NumberType): Uint8Array {
  const values = Int32Array.from({ length: BYTE_VALUES }, (_, byte) =>
    isSigned(type) ? (byte << 24) >> 24 : byte,
  )
  return dictionaryPage(BYTE_VALUES, [new Uint8Array(values.buffer)]).bytes
}

/** The width of an index in bits, then one run of groups of eight indexes. */
function dictionaryIndexes(bytes: Uint8Array): readonly Uint8Array[] {
  const groups = Math.ceil(bytes.length / 8)
  return [Uint8Array.from([8, ...varint(groups * 2 + 1)]), bytes, new Uint8Array(groups * 8 - bytes.length)]
}

function idPage(ids: readonly string[]): Uint8Array {
  return dataPage(
    ids.length,
    ids.map((id) => withLength(encodeText(id))),
  ).bytes
}
