/** Admission of an embeddings request: its bounds in texts and tokens. */
import type { EmbeddingModel } from '#core/catalog/catalog.ts'
import { chargedUse } from '#core/embedding/content-use.ts'
import { inputCount, type Input } from '#core/embedding/input.ts'
import type { Offer } from '#core/embedding/negotiate.ts'
import type { PartUse } from '#core/money/part-use.ts'
import { costOf, maxCostOf } from '#core/money/price.ts'
import type { Usage } from '#core/money/usage.ts'
import type { Key } from '#ports/keys.ts'
import type { KeyAsked } from '../access/terms-now.ts'
import {
  Admission,
  admitWithin,
  mustAsk,
  type AdmissionTerms,
  type MoneyOutside,
} from '../money/admission.ts'
import type { BegunCall } from '../money/call.ts'
import { dearest } from '../money/hard-budget.ts'
import { NOTHING_TAKEN, type TakenRates } from '../money/rates.ts'
import { LONGEST_TOKEN_BYTES } from './inputs.ts'
import { askerOf, limiterTokens, mostTokens, partUseOf, type TokenContext } from './tokens.ts'

export interface AdmissionRequest {
  readonly requestId: string
  readonly key: Key
  readonly model: EmbeddingModel
  readonly offers: readonly Offer[]
  readonly input: Input
  readonly labels?: AdmissionTerms['labels']
  readonly shares?: AdmissionTerms['shares']
  readonly counted?: TakenRates | undefined
  readonly batchId?: string | undefined
  readonly keyNow?: KeyAsked | undefined
  /** Counts the tokens of the input when a hard budget has too little for a bound by bytes. */
  readonly tokenContext?: TokenContext | undefined
}

export interface BegunEmbedding extends BegunCall {
  readonly offer: Offer
  /** The most that Torana expects it to use. It is reserved. An upstream's meter may count more, up to `MAX_TIMES_EXPECTED`. */
  readonly mostTokens: number
  /** Undefined for texts and token ids. */
  readonly likelyUse: PartUse | undefined
  readonly inputs: number
}

/** Immediate when no limit and no budget has to be asked. */
export function admit(
  request: AdmissionRequest,
  outside: MoneyOutside,
): EmbeddingAdmission | Promise<EmbeddingAdmission> {
  const terms = termsOf(request, outside)
  if (!mustAsk(request.key, outside)) return new EmbeddingAdmission(terms, request, outside, NOTHING_TAKEN)
  return admitLimited(terms, request, outside)
}

function admitLimited(
  terms: AdmissionTerms,
  request: AdmissionRequest,
  outside: MoneyOutside,
): Promise<EmbeddingAdmission> {
  return admitWithin(terms, outside, (taken) => new EmbeddingAdmission(terms, request, outside, taken))
}

export class EmbeddingAdmission extends Admission {
  readonly #request: AdmissionRequest
  readonly #bytesOf: (text: string) => number
  /** Tokens by text, for texts that were counted. */
  #counts: ReadonlyMap<string, number> | undefined

  constructor(terms: AdmissionTerms, request: AdmissionRequest, outside: MoneyOutside, taken: TakenRates) {
    super(terms, outside, taken)
    this.#request = request
    this.#bytesOf = outside.bytesOf
  }

  /** Immediate where nothing has to be asked. */
  begin(callId: string, offer: Offer, input: Input): BegunEmbedding | Promise<BegunEmbedding> {
    const counts = this.#counts
    const { model } = this.#request
    const tokens = mostTokens(input, model, this.#bytesOf, counts && { counts })
    const use = partUseOf(input, model, this.#bytesOf, offer.deployment, 'most')
    const cost = maxCostOf(offer.deployment.price, { tokens, rows: 1, use })
    const begun = this.beginAtOnce(callId, offer.deployment.id, cost)
    const asEmbedding = ({ attempt, unknown }: BegunCall): BegunEmbedding => ({
      attempt,
      unknown,
      offer,
      mostTokens: tokens,
      likelyUse: partUseOf(input, model, this.#bytesOf, offer.deployment, 'likely'),
      inputs: inputCount(input),
    })
    return begun instanceof Promise ? begun.then(asEmbedding) : asEmbedding(begun)
  }

  served(call: BegunEmbedding, used: Exclude<Usage, { readonly kind: 'unknown' }>): void {
    const { tokens } = used
    const use = call.likelyUse && chargedUse(used, call.likelyUse)
    const cost = costOf(call.offer.deployment.price, tokens, use)
    const inputs = call.inputs === 1 ? undefined : call.inputs
    if (used.kind === 'measured') this.paid(call, { usage: 'upstream', tokens, images: 0, inputs, cost })
    else
      this.paid(call, {
        usage: 'estimated',
        tokens,
        images: 0,
        inputs,
        cost,
        reportedTokens: used.reportedTokens,
      })
  }

  /**
   * The bound by counted tokens, where the upstream counts as we do. Texts are not counted if even their
   * smallest possible count does not fit, so that a key without money does not keep the tokenizer busy.
   */
  protected override async closerMostNanoUsd(leftNanoUsd: bigint): Promise<bigint | undefined> {
    const { model, input, offers, tokenContext } = this.#request
    const { tokenizer, tokenCounts, maxInputTokens = Infinity } = model.facts
    if (tokenContext === undefined || input.kind !== 'texts') return undefined
    // A prefix may share a token with the beginning of its text.
    if (tokenizer === 'none' || tokenCounts !== 'exact' || offers.some(({ prefix }) => prefix !== ''))
      return undefined
    const longest = LONGEST_TOKEN_BYTES[tokenizer]
    const fewest = input.texts.reduce(
      (sum, text) => sum + Math.min(Math.ceil(this.#bytesOf(text) / longest), maxInputTokens),
      0,
    )
    if (dearest(offers.map(({ deployment }) => costOf(deployment.price, fewest))) > leftNanoUsd)
      return undefined
    try {
      const asker = { ...askerOf(tokenContext), most: maxInputTokens }
      const counted = await tokenContext.outside.tokens.count(input.texts, tokenizer, asker)
      this.#counts = new Map(
        counted.map(({ tokens }, index) => [input.texts[index] as string, Math.min(tokens, maxInputTokens)]),
      )
    } catch {
      // The time is up or the tokenizer's thread has died, so the refusal remains.
      return undefined
    }
    return mostNanoUsd(
      offers,
      input,
      mostTokens(input, model, this.#bytesOf, { counts: this.#counts }),
      model,
      this.#bytesOf,
    )
  }
}

function termsOf(
  { requestId, key, model, offers, input, labels, shares, counted, batchId, keyNow }: AdmissionRequest,
  { bytesOf }: MoneyOutside,
): AdmissionTerms {
  return {
    requestId,
    key,
    modelId: model.id,
    labels,
    shares,
    tokens: key.limits.length === 0 ? 0 : limiterTokens(input, model, bytesOf),
    images: 0,
    counted,
    batchId,
    keyNow,
    mostNanoUsd() {
      // Nearly always the same for every deployment, so that one pass over the texts is enough.
      const prefix = offers.reduce(
        (long, offer) => (offer.prefix.length > long.length ? offer.prefix : long),
        '',
      )
      const tokens = mostTokens(input, model, bytesOf, { prefix })
      return mostNanoUsd(offers, input, tokens, model, bytesOf, prefix)
    },
  }
}

/** Largest cost of `tokens` at the most expensive deployment. Each input may become a separate ledger row. */
function mostNanoUsd(
  offers: readonly Offer[],
  input: Input,
  tokens: number,
  model: EmbeddingModel,
  bytesOf: (text: string) => number,
  prefix = '',
): bigint {
  const rows = inputCount(input)
  return dearest(
    offers.map(({ deployment }) => {
      const use = partUseOf(input, model, bytesOf, deployment, 'most', prefix)
      return maxCostOf(deployment.price, { tokens, rows, use })
    }),
  )
}
