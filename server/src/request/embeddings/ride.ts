/**
 * A probe text that rides along in a live call, on the connection and to the replica that answers the callers. It is paid for by the
 * project `system`. Callers get what they would get without it, unless its vector is of another space: then the answers of that call are not returned.
 */
import { asContents, inputCount, joinInputs, type Input } from '#core/embedding/input.ts'
import { fieldOfUnknownEffect, type Offer } from '#core/embedding/negotiate.ts'
import { valuesOf, type Vector } from '#core/embedding/vector.ts'
import { UpstreamFailure } from '#core/fault/failure.ts'
import type { Usage } from '#core/money/usage.ts'
import type { EmbeddingAnswer } from '#ports/upstream.ts'
import { SYSTEM_KEY } from '../access/system-key.ts'
import { admit, type BegunEmbedding, type EmbeddingAdmission } from './admit.ts'
import type { Share } from './admitted-request.ts'
import type { DueRide } from './due-ride.ts'
import { runsOf } from './one-call.ts'
import type { AccountedAnswer } from './served.ts'

type Call = (rider: Rider | undefined) => Promise<readonly AccountedAnswer[]>

/** Makes the call with the ride, or beside it where the call can't carry it. */
export async function callWithRide(
  due: DueRide,
  shares: readonly [Share, ...Share[]],
  offer: Offer,
  call: Call,
): Promise<readonly AccountedAnswer[]> {
  const [{ request }] = shares
  const input = riderInput(due, shares, offer)
  if (input === undefined || due.tokens === undefined) {
    if (!due.isTimely) return call(undefined)
    const alone = due.alone()
    const answers = await call(undefined)
    if (!(await alone)) throw leftSpace(offer)
    return answers
  }
  const rider = await Rider.of(input, due.tokens, request, offer)
  const sentAtMs = request.outside.clock.nowMs()
  try {
    const answers = await call(rider)
    if (rider.vector === undefined) due.missed()
    else if (!due.isWithin(rider.vector, sentAtMs)) throw leftSpace(offer)
    return answers
  } catch (error) {
    if (rider.vector !== undefined) throw error
    due.missed()
    if (!(error instanceof UpstreamFailure) || error.kind !== 'refused') throw error
    const answers = await call(undefined)
    // Callers' own mistakes are refused without it too.
    due.refused()
    return answers
  } finally {
    rider.end()
  }
}

/** The rider as this call takes it. Undefined when the call has other options than a probe, or no room. */
function riderInput(
  { text, plain }: DueRide,
  shares: readonly [Share, ...Share[]],
  offer: Offer,
): Input | undefined {
  const [{ request, inputs }] = shares
  const { outside, model } = request
  const isComparable =
    offer.nativeType === undefined &&
    // Unless its maker allows to shorten them, a model's shorter vectors need not be the beginnings of its longer ones.
    (offer.upstreamWidth === plain.upstreamWidth || model.facts.matryoshka) &&
    offer.inputType === plain.inputType &&
    inputs.kind !== 'tokens' &&
    fieldOfUnknownEffect([offer]) === undefined
  if (!isComparable) return undefined
  const texts: Input = { kind: 'texts', texts: [plain.prefix + text] }
  const rider: Input = inputs.kind === 'contents' ? { kind: 'contents', contents: asContents(texts) } : texts
  const all = joinInputs([...shares.map((share) => share.inputs), rider])
  const { maxInputs } = offer.deployment.capabilities
  if (inputCount(all) > maxInputs) return undefined
  return runsOf(all, offer, { outside, model, wholeBecauseOf: undefined }).length === 1 ? rider : undefined
}

/** The call is paid for and recorded. Another deployment may answer within the space. */
export function leftSpace({ deployment }: Offer): UpstreamFailure {
  return new UpstreamFailure('broken', 'vectors of another space', {
    deployment: deployment.id,
    charge: 'none',
    leftSpace: true,
  })
}

/** One probe text in one call. */
export class Rider {
  /** Undefined until the call has answered. */
  vector: Float32Array | undefined = undefined
  readonly inputs: Input
  readonly #tokens: number
  readonly #admission: EmbeddingAdmission
  #begun: BegunEmbedding | undefined = undefined

  private constructor(inputs: Input, tokens: number, admission: EmbeddingAdmission) {
    this.inputs = inputs
    this.#tokens = tokens
    this.#admission = admission
  }

  static async of(
    inputs: Input,
    tokens: number,
    { model, outside }: Share['request'],
    offer: Offer,
  ): Promise<Rider> {
    const requestId = outside.identifiers.next()
    const asked = { requestId, key: SYSTEM_KEY, model, offers: [offer], input: inputs }
    return new Rider(inputs, tokens, await admit(asked, outside))
  }

  /** Writes it into the ledger before the call is sent. False when that fails: the call goes without it. */
  async begin(callId: string, offer: Offer): Promise<boolean> {
    try {
      this.#begun = await this.#admission.begin(callId, offer, this.inputs)
      return true
    } catch {
      // The callers' own entries report what is wrong with the ledger.
      return false
    }
  }

  /** Takes its vector and its tokens out of the answer: the rest is what the callers would have got without it. */
  takenFrom(answer: EmbeddingAnswer): EmbeddingAnswer {
    const vectors = answer.vectors.slice(0, -1)
    this.vector = valuesOf(answer.vectors.at(-1) as Vector)
    const usage = withoutTokens(answer.usage, this.#tokens, vectors.length)
    const kind = usage.kind === 'measured' ? 'measured' : 'estimated'
    if (this.#begun !== undefined) this.#admission.served(this.#begun, { kind, tokens: this.#tokens })
    return { ...answer, vectors, usage }
  }

  failed(failure: UpstreamFailure | undefined): void {
    if (this.#begun !== undefined && this.vector === undefined) this.#admission.failed(this.#begun, failure)
    this.#begun = undefined
  }

  /** Its ledger entry is written without anyone waiting for it. */
  end(): void {
    this.#admission[Symbol.dispose]()
  }
}

/** Unknown when the upstream counted too few for both: it does not count each text by itself. */
function withoutTokens(usage: Usage, tokens: number, inputs: number): Usage {
  if (usage.kind !== 'measured') return usage
  const left = usage.tokens - tokens
  if (left < (tokens === 0 ? 0 : inputs)) return { kind: 'unknown' }
  const { byKind } = usage
  if (byKind?.text === undefined) return { ...usage, tokens: left }
  return { ...usage, tokens: left, byKind: { ...byKind, text: Math.max(0, byKind.text - tokens) } }
}
