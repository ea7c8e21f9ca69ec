/** Tokens of some texts of a corpus, as far as Torana can count them for a model. */
import type { EmbeddingModel } from '#core/catalog/catalog.ts'
import type { CountedText } from '#core/corpus/estimate.ts'
import type { TokenCounter } from '#ports/tokens.ts'
import { BYTES_PER_TOKEN } from '../embeddings/tokens.ts'

export interface CountOutside {
  readonly tokens: TokenCounter
  readonly bytesOf: (text: string) => number
}

/** Time for a sample. It takes a tenth of a second; on a machine without a free core, threads first wait for their turn. */
const SAMPLE_MS = 30_000

export async function countSample(
  texts: readonly string[],
  { facts }: Pick<EmbeddingModel, 'facts'>,
  project: string,
  { tokens, bytesOf }: CountOutside,
): Promise<readonly CountedText[]> {
  const sizes = texts.map(bytesOf)
  const { tokenizer } = facts
  if (tokenizer === 'none')
    return sizes.map((bytes) => ({ bytes, tokens: Math.ceil(bytes / BYTES_PER_TOKEN) }))
  const counts = await tokens.count(texts, tokenizer, { project, timeoutMs: SAMPLE_MS, most: Infinity })
  return sizes.map((bytes, index) => ({ bytes, tokens: counts[index]?.tokens ?? 0 }))
}
