/** The usage of each of several inputs that one request carried, such as the lines of a batch. */
import type { EmbeddingModel } from '#core/catalog/catalog.ts'
import { inputSize, type Input } from '#core/embedding/input.ts'
import type { AnswerUsage } from '#core/embedding/usage-text.ts'
import type { PartKind } from '#core/content/content.ts'
import { divideTokens, type TokensByKind } from '#core/money/usage.ts'
import { partUseOf } from './tokens.ts'

/** Adds up to the usage of all. Tokens of a kind go to the inputs that have it, in proportion to our estimate. */
export function usageOfEach(
  { promptTokens, byKind }: AnswerUsage,
  inputs: readonly Input[],
  model: EmbeddingModel,
  bytesOf: (text: string) => number,
): readonly AnswerUsage[] {
  if (byKind === undefined) {
    const tokens = divideTokens(promptTokens, inputs.map(inputSize))
    return tokens.map((count) => ({ promptTokens: count }))
  }
  const [deployment] = model.deployments
  const uses = inputs.map((input) => deployment && partUseOf(input, model, bytesOf, deployment, 'likely'))
  const shares = inputs.map((): Partial<Record<PartKind, number>> => ({}))
  for (const [kind, tokens] of Object.entries(byKind) as [PartKind, number][]) {
    const weights = uses.map((use) => use?.[kind]?.tokens ?? 0)
    for (const [index, share] of divideTokens(tokens, weights).entries())
      if (share > 0 || uses[index]?.[kind] !== undefined) (shares[index] ?? {})[kind] = share
  }
  const counts = divideTokens(promptTokens, shares.map(sumOf))
  return shares.map((share, index) => ({ promptTokens: counts[index] ?? 0, byKind: share }))
}

function sumOf(tokens: TokensByKind): number {
  return Object.values(tokens).reduce((sum, count) => sum + count, 0)
}
