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

interface AskedVectors {
  readonly model: EmbeddingModel
  readonly offers: readonly Offer[]
  readonly input: Input
}

interface PricingOutside {
  readonly catalog: () => Catalog
  readonly bytesOf: (text: string) => number
}

export async function allowedNow(
  { model, offers, input }: AskedVectors,
  keyNow: KeyAsked,
  { catalog, bytesOf }: PricingOutside,
): Promise<Key> {
  const key = await keyNow()
  findEmbeddingModel(model.id, key, catalog())
  payable(offers, pricesOf(input, model, bytesOf), model, key)
  return key
}

/** Whether every part of the input has a price at a deployment: a model may have one for texts and none for images. */
export function pricesOf(
  input: Input,
  model: EmbeddingModel,
  bytesOf: PricingOutside['bytesOf'],
): (offer: Offer) => boolean {
  return ({ deployment }) => {
    const use = partUseOf(input, model, bytesOf, deployment, 'most')
    return costOf(deployment.price, 0, use).kind === 'known'
  }
}
