/** The answer to `x-torana-dry-run`: what would happen, without a call. */
import type { EmbeddingModel } from '#core/catalog/catalog.ts'
import { inputCount, type Input } from '#core/embedding/input.ts'
import type { Negotiated, Offer } from '#core/embedding/negotiate.ts'
import { costOf, costText, maxCostOf } from '#core/money/price.ts'
import { decodeTokens } from './inputs.ts'
import { countEach, mostTokens, partUseOf, type TokenContext } from './tokens.ts'

export interface DryRun {
  readonly kind: 'dry-run'
  readonly model: EmbeddingModel
  /** Undefined when a field of unknown effect may change the vectors, or when this node does not know the space yet. */
  readonly space: string | undefined
  readonly deployments: readonly {
    id: string
    native: boolean
    emulated: readonly string[]
    priority: number
    likelyCostUsd: string
    maxCostUsd: string
  }[]
  readonly dropped: readonly string[]
  /** Largest number of tokens that can be charged. */
  readonly maxTokens: number
  /** Of each input, also where that is more than the model reads. */
  readonly tokens: readonly number[]
  /** The tokens are counted as the model counts them, not estimated. */
  readonly areCounted: boolean
}

/** The most is by the bounds by which a request reserves: no call is charged more. */
export async function dryRun(
  input: Input,
  context: TokenContext,
  space: string | undefined,
  { offers, dropped }: Negotiated,
): Promise<DryRun> {
  const { model, outside } = context
  const texts = offers.some(({ decodesTokens }) => decodesTokens)
    ? await decodeTokens(context, input, (index) => index)
    : input
  const mostAt = ({ decodesTokens, prefix }: Offer): number =>
    mostTokens(decodesTokens ? texts : input, model, outside.bytesOf, { prefix })
  const tokens = await countEach(context, input)
  const sum = tokens.reduce((total, count) => total + count, 0)
  const bounds = offers.map((offer) => ({ offer, tokens: mostAt(offer) }))
  return {
    kind: 'dry-run',
    model,
    space,
    deployments: bounds.map(({ offer: { deployment, emulated, prefix }, tokens: most }) => ({
      id: deployment.id,
      native: emulated.length === 0,
      emulated,
      priority: deployment.priority,
      likelyCostUsd: costText(
        costOf(deployment.price, sum, partUseOf(input, model, outside.bytesOf, deployment, 'likely')),
      ),
      maxCostUsd: costText(
        maxCostOf(deployment.price, {
          tokens: most,
          rows: inputCount(input),
          use: partUseOf(input, model, outside.bytesOf, deployment, 'most', prefix),
        }),
      ),
    })),
    dropped,
    maxTokens: bounds.reduce((most, { tokens: count }) => Math.max(most, count), 0),
    tokens,
    areCounted:
      input.kind === 'tokens' ||
      (input.kind === 'texts' && model.facts.tokenizer !== 'none' && model.facts.tokenCounts === 'exact'),
  }
}
