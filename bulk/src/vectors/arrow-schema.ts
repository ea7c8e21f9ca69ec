/** The Arrow schema of a vector file: in Arrow files, and in Parquet metadata for readers that know Arrow. */
import { Field, FixedSizeList, Float16, Float32, RecordBatchStreamWriter, Schema, Utf8 } from 'apache-arrow'
import { factTexts, type VectorFacts } from './vector-format.ts'

/** End marker of a message stream. */
export const STREAM_END_BYTES = 8

export function vectorSchema(facts: VectorFacts): Schema {
  const number = facts.type === 'float32' ? new Float32() : new Float16()
  const vector = new FixedSizeList(facts.dimensions, new Field('element', number, false))
  const columns = [new Field('id', new Utf8(), false), new Field('vector', vector, false)]
  return new Schema(columns, new Map(factTexts(facts)))
}

/** A stream without record batches is its schema and the end marker. */
export function schemaMessage(schema: Schema): Uint8Array {
  const writer = new RecordBatchStreamWriter()
  writer.reset(undefined, schema)
  writer.finish()
  return writer.toUint8Array(true).subarray(0, -STREAM_END_BYTES)
}
