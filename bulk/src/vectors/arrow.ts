/** Arrow's file format: a record batch per block, and an index of them at the end. */
import {
  makeData,
  MetadataVersion,
  RecordBatch,
  RecordBatchStreamWriter,
  Struct,
  Utf8,
  type Data,
  type FixedSizeList,
  type Schema,
} from 'apache-arrow'
import { FileBlock, Footer } from 'apache-arrow/ipc/metadata/file'
import { arrowType, schemaMessage, STREAM_END_BYTES, vectorSchema } from './arrow-schema.ts'
import { numbersIn, withVector } from './vector-format.ts'
import type { VectorFacts, VectorFormat, VectorSlice } from './vector-format.ts'

/** Position of a record batch in the file. */
interface Block {
  readonly headBytes: number
  readonly bodyBytes: number
  readonly firstByte: number
}

const MAGIC = 'ARROW1'
/** The magic, padded to eight bytes. */
const OPENING = Buffer.from(`${MAGIC}\0\0`)
/** Continuation marker and length before each message. */
const PREFIX_BYTES = 8

export class ArrowFormat implements VectorFormat {
  readonly memory: Block[]
  readonly keepsEveryRow = false
  readonly #facts: VectorFacts
  readonly #schema: Schema
  readonly #schemaMessage: Uint8Array

  constructor(facts: VectorFacts, memory: unknown) {
    this.memory = (memory as Block[] | undefined) ?? []
    this.#facts = facts
    this.#schema = vectorSchema(facts)
    this.#schemaMessage = schemaMessage(this.#schema)
  }

  head(): Uint8Array {
    return Buffer.concat([OPENING, this.#schemaMessage])
  }

  async *slice(slice: VectorSlice, firstByte: number): AsyncGenerator<Uint8Array> {
    let at = firstByte
    for await (const block of slice.blocks()) {
      const { bytes, ids } = withVector(block)
      if (ids.length === 0) continue
      const message = this.#message(new RecordBatch(this.#schema, this.#rows(ids, bytes)))
      const { buffer, byteOffset } = message
      const headBytes = PREFIX_BYTES + new DataView(buffer, byteOffset).getInt32(4, true)
      this.memory.push({ headBytes, bodyBytes: message.length - headBytes, firstByte: at })
      at += message.length
      yield message
    }
  }

  tail(): Uint8Array {
    const blocks = this.memory.map(
      ({ headBytes, bodyBytes, firstByte }) => new FileBlock(headBytes, bodyBytes, firstByte),
    )
    const footer = Footer.encode(new Footer(this.#schema, MetadataVersion.V5, blocks, []))
    const end = Buffer.from([0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0])
    const length = Buffer.alloc(4)
    length.writeInt32LE(footer.length)
    return Buffer.concat([end, footer, length, Buffer.from(MAGIC)])
  }

  /** The bytes between schema and end marker in a stream of one record batch. */
  #message(batch: RecordBatch): Uint8Array {
    const writer = new RecordBatchStreamWriter()
    writer.write(batch)
    writer.finish()
    return writer.toUint8Array(true).subarray(this.#schemaMessage.length, -STREAM_END_BYTES)
  }

  #rows(ids: readonly string[], bytes: Uint8Array<ArrayBuffer>): Data<Struct> {
    const [, vector] = this.#schema.fields
    const children = [
      idData(ids),
      makeData({
        type: vector?.type as FixedSizeList,
        length: ids.length,
        nullCount: 0,
        child: this.#numbers(bytes),
      }),
    ]
    return makeData({ type: new Struct(this.#schema.fields), length: ids.length, nullCount: 0, children })
  }

  #numbers(bytes: Uint8Array<ArrayBuffer>): Data {
    const { type } = this.#facts
    const { length } = numbersIn(bytes, type)
    // Arrow's library holds float16 as its bits.
    const data =
      type === 'float16' ? new Uint16Array(bytes.buffer, bytes.byteOffset, length) : numbersIn(bytes, type)
    return makeData({ type: arrowType(type), length, nullCount: 0, data } as Parameters<typeof makeData>[0])
  }
}

function idData(ids: readonly string[]): Data<Utf8> {
  const texts = ids.map((id) => Buffer.from(id))
  const valueOffsets = new Int32Array(ids.length + 1)
  for (const [index, text] of texts.entries())
    valueOffsets[index + 1] = (valueOffsets[index] ?? 0) + text.length
  const data = Buffer.concat(texts)
  return makeData({ type: new Utf8(), length: ids.length, nullCount: 0, valueOffsets, data })
}
