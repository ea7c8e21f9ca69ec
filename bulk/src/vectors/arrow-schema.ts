/** The Arrow schema of a vector file: in Arrow files, and in Parquet metadata for readers that know Arrow. */
import {
  Field,
  FixedSizeList,
  Float16,
  Float32,
  Int8,
  RecordBatchStreamWriter,
  Schema,
  Uint8,
  Utf8,
} from 'apache-arrow'
import { factTexts, isSigned, numbersOf, type NumberType, type VectorFacts } from './vector-format.ts'

/** End marker of a message stream. */
export const STREAM_END_BYTES = 8

export function vectorSchema(facts: VectorFacts): Schema {
  const vector = new FixedSizeList(numbersOf(facts), new Field('element', arrowType(facts.type), false))
  const columns = [new Field('id', new Utf8(), false), new Field('vector', vector, false)]
  return new Schema(columns, new Map(factTexts(facts)))
}

export function arrowType(type: NumberType): Float32 | Float16 | Int8 | Uint8 {
  if (type === 'float32') return new Float32()
  if (type === 'float16') return new Float16()
  return isSigned(type) ? new Int8() : new Uint8()
}

/** A stream without record batches is its schema and the end marker. */
export function schemaMessage(schema: Schema): Uint8Array {
  const writer = new RecordBatchStreamWriter()
  writer.reset(undefined, schema)
  writer.finish()
  return writer.toUint8Array(true).subarray(0, -STREAM_END_BYTES)
}
