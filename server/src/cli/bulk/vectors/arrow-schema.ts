/** The columns of a file of vectors, as Arrow tells them: in Arrow's own files, and in Parquet for readers that know Arrow. */
import { Field, FixedSizeList, Float16, Float32, RecordBatchStreamWriter, Schema, Utf8 } from 'apache-arrow'
import { factTexts, type VectorFacts } from './vector-format.ts'

/** What ends the messages of a stream. */
export const STREAM_END_BYTES = 8

export function vectorSchema(facts: VectorFacts): Schema {
  const number = facts.type === 'float32' ? new Float32() : new Float16()
  const vector = new FixedSizeList(facts.dimensions, new Field('element', number, false))
  const columns = [new Field('id', new Utf8(), false), new Field('vector', vector, false)]
  return new Schema(columns, new Map(factTexts(facts)))
}

/** A stream without a record batch is its schema and its end. */
export function schemaMessage(schema: Schema): Uint8Array {
  const writer = new RecordBatchStreamWriter()
  writer.reset(undefined, schema)
  writer.finish()
  return writer.toUint8Array(true).subarray(0, -STREAM_END_BYTES)
}
