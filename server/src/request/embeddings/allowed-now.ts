/** Whether a key may still ask for these vectors, at the moment of a call. */
import type { Catalog } from '#core/catalog/catalog.ts'
import type { Offer } from '#core/embedding/negotiate.ts'
import type { Key } from '#ports/keys.ts'
import { findEmbeddingModel } from '../access/find-model.ts'
import type { KeyAsked } from '../access/terms-now.ts'
import { payable } from '../money/hard-budget.ts'

export async function allowedNow(
  modelId: string,
  offers: readonly Offer[],
  keyNow: KeyAsked,
  catalog: Catalog,
): Promise<Key> {
  const key = await keyNow()
  const { id } = findEmbeddingModel(modelId, key, catalog)
  payable(offers, hasPrice, id, key)
  return key
}

export function hasPrice({ deployment }: Offer): boolean {
  return deployment.price.kind !== 'unpriced'
}
