/**
 * Parquet: a row group per slice, uncompressed, since compression gains nothing on vectors. This file builds the pages itself:
 * hyparquet-writer encodes a list number by number, which is 40 times the work. Its Thrift writer writes headers and footer.
 */
import type { FileMetaData, RowGroup, SchemaElement } from 'hyparquet'
import { ByteWriter } from 'hyparquet-writer/src/bytewriter.js'
import { writePageHeader } from 'hyparquet-writer/src/datapage.js'
import { writeMetadata } from 'hyparquet-writer/src/metadata.js'
import { schemaMessage, vectorSchema } from './arrow-schema.ts'
import { factTexts, withVector } from './vector-format.ts'
import type { VectorFacts, VectorFormat, VectorSlice } from './vector-format.ts'

/** Position of the two columns of a row group. */
interface Group {
  readonly rows: number
  readonly firstByte: number
  readonly idBytes: number
  readonly vectorBytes: number
}

const MAGIC = Buffer.from('PAR1')
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
    return Buffer.concat([writer.getBytes(), MAGIC])
  }

  /** All rows have the same width and no nulls, so the levels are a few runs. */
  #vectorPage(rows: number, bytes: Uint8Array): Uint8Array {
    const { dimensions } = this.#facts
    const rowLevels = Buffer.concat([run(1, 0), ...(dimensions > 1 ? [run(dimensions - 1, 1)] : [])])
    const repetition = Buffer.concat(Array.from({ length: rows }, () => rowLevels))
    const definition = run(rows * dimensions, 1)
    return page(rows * dimensions, [withLength(repetition), withLength(definition), bytes])
  }

  #metadata(): FileMetaData {
    const rows = this.memory.reduce((sum, group) => sum + group.rows, 0)
    const texts = new Map(factTexts(this.#facts))
    texts.set('ARROW:schema', Buffer.from(schemaMessage(vectorSchema(this.#facts))).toString('base64'))
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
    const number: SchemaElement =
      this.#facts.type === 'float32'
        ? { name: 'element', type: 'FLOAT', repetition_type: 'REQUIRED' }
        : {
            name: 'element',
            type: 'FIXED_LEN_BYTE_ARRAY',
            type_length: 2,
            repetition_type: 'REQUIRED',
            logical_type: { type: 'FLOAT16' },
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
    const { type, dimensions } = this.#facts
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
      type: type === 'float32' ? ('FLOAT' as const) : ('FIXED_LEN_BYTE_ARRAY' as const),
      path_in_schema: ['vector', 'list', 'element'],
      ...column(firstByte + idBytes, vectorBytes, rows * dimensions),
    }
    return {
      columns: [ids, vectors].map((meta_data) => ({ file_offset: meta_data.data_page_offset, meta_data })),
      total_byte_size: BigInt(idBytes + vectorBytes),
      num_rows: BigInt(rows),
    }
  }
}

function idPage(ids: readonly string[]): Uint8Array {
  return page(
    ids.length,
    ids.map((id) => withLength(Buffer.from(id))),
  )
}

/** A data page of version 1, which every reader supports. */
function page(values: number, parts: readonly Uint8Array[]): Uint8Array {
  const bytes = parts.reduce((sum, part) => sum + part.length, 0)
  const writer = new ByteWriter()
  writePageHeader(writer, {
    type: 'DATA_PAGE',
    uncompressed_page_size: bytes,
    compressed_page_size: bytes,
    data_page_header: {
      num_values: values,
      encoding: 'PLAIN',
      definition_level_encoding: 'RLE',
      repetition_level_encoding: 'RLE',
    },
  })
  return Buffer.concat([writer.getBytes(), ...parts])
}

function withLength(bytes: Uint8Array): Uint8Array {
  const length = Buffer.alloc(4)
  length.writeUInt32LE(bytes.length)
  return Buffer.concat([length, bytes])
}

/** Run-length encoding of one level: the count as a varint, then the level. */
function run(count: number, level: 0 | 1): Uint8Array {
  const bytes: number[] = []
  let rest = count * 2
  for (; rest > 127; rest = Math.floor(rest / 128)) bytes.push((rest % 128) + 128)
  return Uint8Array.from([...bytes, rest, level])
}
