/** Admission of an embeddings request: what it may cost, told in texts and tokens. */
import type { EmbeddingModel } from '#core/catalog.ts'
import { inputCount, type Input } from '#core/embedding/input.ts'
import type { Offer } from '#core/embedding/negotiate.ts'
import { costOf, maxCostOf, type Cost } from '#core/price.ts'
import type { Key } from '#ports/keys.ts'
import {
  Admission,
  mustAsk,
  NOTHING_TAKEN,
  takeRates,
  type Admitting,
  type BegunCall,
  type MoneyOutside,
  type RatesTaken,
} from '../money/admission.ts'
import { limiterTokens, mostTokens } from './tokens.ts'

export interface Asking {
  readonly requestId: string
  readonly key: Key
  readonly model: EmbeddingModel
  readonly offers: readonly Offer[]
  readonly input: Input
}

export interface BegunEmbedding extends BegunCall {
  readonly offer: Offer
}

/** Immediate when no limit and no budget has to be asked. */
export function admit(
  asking: Asking,
  outside: MoneyOutside,
): EmbeddingAdmission | Promise<EmbeddingAdmission> {
  if (!mustAsk(asking.key, outside)) return new EmbeddingAdmission(asking, outside, NOTHING_TAKEN)
  return admitWithin(asking, outside)
}

async function admitWithin(asking: Asking, outside: MoneyOutside): Promise<EmbeddingAdmission> {
  const taken = await takeRates(admittingOf(asking, outside), outside)
  const admission = new EmbeddingAdmission(asking, outside, taken)
  try {
    await admission.reserve()
  } catch (error) {
    await admission[Symbol.asyncDispose]()
    throw error
  }
  return admission
}

export class EmbeddingAdmission extends Admission {
  readonly #model: EmbeddingModel
  readonly #bytesOf: (text: string) => number

  constructor(asking: Asking, outside: MoneyOutside, taken: RatesTaken) {
    super(admittingOf(asking, outside), outside, taken)
    this.#model = asking.model
    this.#bytesOf = outside.bytesOf
  }

  async begin(callId: string, offer: Offer, input: Input): Promise<BegunEmbedding> {
    const tokens = mostTokens(input, this.#model, this.#bytesOf)
    const cost = maxCostOf(offer.deployment.price, { tokens, rows: 1 })
    return { ...(await this.beginCall(callId, offer.deployment.id, cost)), offer }
  }

  served(
    call: BegunEmbedding,
    { kind, tokens }: { readonly kind: 'measured' | 'estimated'; readonly tokens: number },
  ): void {
    const usage = kind === 'measured' ? 'upstream' : 'estimated'
    this.paid(call, { usage, tokens, images: 0, cost: costOf(call.offer.deployment.price, tokens) })
  }
}

function admittingOf({ requestId, key, model, offers, input }: Asking, outside: MoneyOutside): Admitting {
  return {
    requestId,
    key,
    modelId: model.id,
    tokens: key.limits.length === 0 ? 0 : limiterTokens(input, outside.bytesOf),
    images: 0,
    mostNanoUsd() {
      const tokens = mostTokens(input, model, outside.bytesOf)
      return dearest(
        offers.map(({ deployment }) => maxCostOf(deployment.price, { tokens, rows: inputCount(input) })),
      )
    },
  }
}

/** What is unpriced is not held against a budget: under a hard one it is not offered. */
export function dearest(costs: readonly Cost[]): bigint {
  let most = 0n
  for (const cost of costs) if (cost.kind === 'known' && cost.nanoUsd > most) most = cost.nanoUsd
  return most
}
