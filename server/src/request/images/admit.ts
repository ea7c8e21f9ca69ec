/** Admission of an image request: which deployments it may be bought from, and whether there is money for it. */
import type { ImageModel } from '#core/catalog.ts'
import { maxRequestCost } from '#core/image/cost.ts'
import { negotiateImages, type ImageOffer } from '#core/image/negotiate.ts'
import type { ImageRequest } from '#core/image/request.ts'
import { inTiers } from '#core/schedule/order.ts'
import type { Limits } from '#core/settings.ts'
import type { Key } from '#ports/keys.ts'
import {
  Admission,
  mustAsk,
  NOTHING_TAKEN,
  takeRates,
  type Admitting,
  type MoneyOutside,
} from '../money/admission.ts'
import { dearest } from '../embeddings/admit.ts'
import { hasHardBudget, refuseUnknownFields, unpriced } from '../money/hard-budget.ts'

/** Under a hard budget only what has a price may be called, and only with fields whose price is known. */
export function offersFor(
  request: ImageRequest,
  model: ImageModel,
  key: Key,
  unsupported: 'refuse' | 'drop' | undefined,
  { limits }: { readonly limits: Limits },
): { readonly offers: readonly ImageOffer[]; readonly dropped: readonly string[] } {
  const { offers, dropped } = negotiateImages(request, model, unsupported ?? model.unsupported, limits)
  return { offers: inTiers(payable(offers, request, model, key)), dropped }
}

function payable(
  offers: readonly ImageOffer[],
  request: ImageRequest,
  model: ImageModel,
  key: Key,
): readonly ImageOffer[] {
  if (!hasHardBudget(key)) return offers
  const priced = offers.filter((offer) => maxRequestCost(request, model, offer).kind === 'known')
  if (priced.length === 0) {
    throw unpriced(model.id, key)
  }
  refuseUnknownFields(priced, key)
  return priced
}

export interface AskingForImages {
  readonly requestId: string
  readonly key: Key
  readonly request: ImageRequest
  readonly model: ImageModel
  readonly offers: readonly ImageOffer[]
  /** Fewer than the request asks for when an earlier process bought the others. */
  readonly images?: number
  readonly attemptsBefore?: number
}

export async function admitImages(asking: AskingForImages, outside: MoneyOutside): Promise<Admission> {
  const { requestId, key, request, model, offers } = asking
  const admitting: Admitting = {
    requestId,
    key,
    modelId: model.id,
    tokens: 0,
    images: asking.images ?? request.images,
    mostNanoUsd: () => dearest(offers.map((offer) => maxRequestCost(request, model, offer))),
    attemptsBefore: asking.attemptsBefore ?? 0,
  }
  if (!mustAsk(key, outside)) return new Admission(admitting, outside, NOTHING_TAKEN)
  const admission = new Admission(admitting, outside, await takeRates(admitting, outside))
  try {
    await admission.reserve()
  } catch (error) {
    await admission[Symbol.asyncDispose]()
    throw error
  }
  return admission
}
