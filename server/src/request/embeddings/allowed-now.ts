/** Whether a key may still ask for these vectors, at the moment of a call. */
import type { Catalog, EmbeddingModel } from '#core/catalog/catalog.ts'
import type { Input } from '#core/embedding/input.ts'
import type { Offer } from '#core/embedding/negotiate.ts'
import { costOf } from '#core/money/price.ts'
import type { Key } from '#ports/keys.ts'
import { findEmbeddingModel } from '../access/find-model.ts'
import type { KeyAsked } from '../access/terms-now.ts'
import { payable } from '../money/hard-budget.ts'
import { partUseOf } from './tokens.ts'

export async function allowedNow(
  modelId: string,
  offers: readonly Offer[],
  hasPrice: (offer: Offer) => boolean,
  keyNow: KeyAsked,
  catalog: Catalog,
): Promise<Key> {
  const key = await keyNow()
  const { id } = findEmbeddingModel(modelId, key, catalog)
  payable(offers, hasPrice, id, key)
  return key
}

/** Whether every part of the input has a price at a deployment: a model may have one for texts and none for images. */
export function pricesOf(
  input: Input,
  model: EmbeddingModel,
  bytesOf: (text: string) => number,
): (offer: Offer) => boolean {
  return ({ deployment }) => {
    const use = partUseOf(input, model, bytesOf, deployment, 'most')
    return costOf(deployment.price, 0, use).kind === 'known'
  }
}
