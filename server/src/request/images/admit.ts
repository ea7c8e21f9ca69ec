/** Admission of an image request: which deployments it may be bought from, and whether there is money for it. */
import type { ImageModel } from '#core/catalog/catalog.ts'
import { maxRequestCost } from '#core/image/expected-cost.ts'
import { negotiateImages, type ImageOffer } from '#core/image/negotiate.ts'
import type { ImageRequest } from '#core/image/request.ts'
import { labelsOf } from '#core/money/labels.ts'
import { inTiers } from '#core/schedule/order.ts'
import type { Limits } from '#core/settings.ts'
import type { Key } from '#ports/keys.ts'
import type { KeyAsked } from '../access/terms-now.ts'
import {
  Admission,
  admitWithin,
  mustAsk,
  type AdmissionTerms,
  type MoneyOutside,
} from '../money/admission.ts'
import { dearest, payable } from '../money/hard-budget.ts'
import { NOTHING_TAKEN, type TakenRates } from '../money/rates.ts'

export interface ImageOffers {
  /** Those that can serve the request. */
  readonly able: readonly ImageOffer[]
  /** Of them, those that the key may pay for. */
  readonly offers: readonly ImageOffer[]
  readonly dropped: readonly string[]
}

/** The deployments that can serve the request, as far as the key may pay for them. */
export function offersFor(
  request: ImageRequest,
  model: ImageModel,
  key: Key,
  unsupported: 'refuse' | 'drop' | undefined,
  { limits }: { readonly limits: Limits },
): ImageOffers {
  const { offers, dropped } = negotiateImages(request, model, unsupported ?? model.unsupported, limits)
  const hasPrice = (offer: ImageOffer): boolean => maxRequestCost(request, model, offer).kind === 'known'
  return { able: offers, offers: inTiers(payable(offers, hasPrice, model, key)), dropped }
}

/** The buyer of images, their number, and the deployments that may make them. */
export interface ImageOrder {
  readonly requestId: string
  readonly key: Key
  readonly request: ImageRequest
  readonly model: ImageModel
  readonly offers: readonly ImageOffer[]
  /** Fewer than the request asks for when an earlier process bought the others. */
  readonly images?: number
  readonly attemptsBefore?: number
  readonly counted?: TakenRates | undefined
  readonly batchId?: string | undefined
  /** Asked before each call: the key may end, and budgets may change, while the job waits for its turn. */
  readonly keyNow: KeyAsked
}

export async function admitImages(order: ImageOrder, outside: MoneyOutside): Promise<Admission> {
  const { requestId, key, request, model, offers } = order
  const terms: AdmissionTerms = {
    requestId,
    key,
    modelId: model.id,
    labels: labelsOf(request),
    tokens: 0,
    images: order.images ?? request.images,
    mostNanoUsd: () => dearest(offers.map((offer) => maxRequestCost(request, model, offer))),
    counted: order.counted,
    batchId: order.batchId,
    keyNow: order.keyNow,
    attemptsBefore: order.attemptsBefore ?? 0,
  }
  if (!mustAsk(key, outside)) return new Admission(terms, outside, NOTHING_TAKEN)
  return admitWithin(terms, outside, (taken) => new Admission(terms, outside, taken))
}
