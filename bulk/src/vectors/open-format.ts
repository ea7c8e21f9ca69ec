/** The format of a vector file, by the ending of its name. */
import type { VectorEnding, VectorFacts, VectorFormat } from './vector-format.ts'

/** Loads only the writer of the format asked for. */
export async function openFormat(
  ending: VectorEnding,
  facts: VectorFacts,
  memory: unknown,
): Promise<VectorFormat> {
  if (ending === '.npy') return new (await import('./npy.ts')).NpyFormat(facts)
  if (ending === '.jsonl') return new (await import('./jsonl.ts')).JsonlFormat(facts)
  return new (await import('./parquet.ts')).ParquetFormat(facts, memory)
}
