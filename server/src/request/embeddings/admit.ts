/** Admission of an embeddings request: what it may cost, told in texts and tokens. */
import type { EmbeddingModel } from '#core/catalog.ts'
import { inputCount, type Input } from '#core/embedding/input.ts'
import type { Offer } from '#core/embedding/negotiate.ts'
import { costOf, maxCostOf } from '#core/price.ts'
import type { Key } from '#ports/keys.ts'
import {
  Admission,
  admitWithin,
  mustAsk,
  type AdmissionTerms,
  type BegunCall,
  type MoneyOutside,
} from '../money/admission.ts'
import { dearest } from '../money/hard-budget.ts'
import { NOTHING_TAKEN, type TakenRates } from '../money/rates.ts'
import { limiterTokens, mostTokens } from './tokens.ts'

export interface AdmissionRequest {
  readonly requestId: string
  readonly key: Key
  readonly model: EmbeddingModel
  readonly offers: readonly Offer[]
  readonly input: Input
  readonly counted?: TakenRates | undefined
}

export interface BegunEmbedding extends BegunCall {
  readonly offer: Offer
  /** The most that it can use. It is reserved, and no more is charged, whatever the upstream counts. */
  readonly mostTokens: number
}

/** Immediate when no limit and no budget has to be asked. */
export function admit(
  request: AdmissionRequest,
  outside: MoneyOutside,
): EmbeddingAdmission | Promise<EmbeddingAdmission> {
  const { key, model } = request
  const terms = termsOf(request, outside)
  if (!mustAsk(key, outside)) return new EmbeddingAdmission(terms, model, outside, NOTHING_TAKEN)
  return admitLimited(terms, model, outside)
}

function admitLimited(
  terms: AdmissionTerms,
  model: EmbeddingModel,
  outside: MoneyOutside,
): Promise<EmbeddingAdmission> {
  return admitWithin(terms, outside, (taken) => new EmbeddingAdmission(terms, model, outside, taken))
}

export class EmbeddingAdmission extends Admission {
  readonly #model: EmbeddingModel
  readonly #bytesOf: (text: string) => number

  constructor(terms: AdmissionTerms, model: EmbeddingModel, outside: MoneyOutside, taken: TakenRates) {
    super(terms, outside, taken)
    this.#model = model
    this.#bytesOf = outside.bytesOf
  }

  async begin(callId: string, offer: Offer, input: Input): Promise<BegunEmbedding> {
    const tokens = mostTokens(input, this.#model, this.#bytesOf)
    const cost = maxCostOf(offer.deployment.price, { tokens, rows: 1 })
    return { ...(await this.beginCall(callId, offer.deployment.id, cost)), offer, mostTokens: tokens }
  }

  served(
    call: BegunEmbedding,
    { kind, tokens }: { readonly kind: 'measured' | 'estimated'; readonly tokens: number },
  ): void {
    const usage = kind === 'measured' ? 'upstream' : 'estimated'
    this.paid(call, { usage, tokens, images: 0, cost: costOf(call.offer.deployment.price, tokens) })
  }
}

function termsOf(
  { requestId, key, model, offers, input, counted }: AdmissionRequest,
  { bytesOf }: MoneyOutside,
): AdmissionTerms {
  return {
    requestId,
    key,
    modelId: model.id,
    tokens: key.limits.length === 0 ? 0 : limiterTokens(input, bytesOf),
    images: 0,
    counted,
    mostNanoUsd() {
      const tokens = mostTokens(input, model, bytesOf)
      return dearest(
        offers.map(({ deployment }) => maxCostOf(deployment.price, { tokens, rows: inputCount(input) })),
      )
    },
  }
}
