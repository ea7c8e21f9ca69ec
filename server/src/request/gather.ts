/**
 * Texts in, vectors out, in order: dedupe inside the request, split what is left by the deployment's caps, attempt each
 * part, and fall back part by part to the next deployment, split anew by that one's caps.
 */
import { dedupe, split, type Weight } from '#core/embedding/batches.ts'
import { inputCount, type Input, type TokenIds } from '#core/embedding/input.ts'
import { truncate, valuesOf, type Vector, type VectorForm } from '#core/embedding/vector.ts'
import { UpstreamFailure } from '#core/failure.ts'
import { Fault } from '#core/fault.ts'
import { faultOfFailure } from '#core/fault-of-failure.ts'
import type { Offer } from '#core/negotiate.ts'
import { attempt, type AccountedAnswer, type Attempting } from './attempt.ts'
import { decodeTokens, withPrefix } from './inputs.ts'
import { Lanes } from './lanes.ts'

export interface Gathering extends Attempting {
  readonly input: Input
  readonly offers: readonly Offer[]
  /** A field that forbids taking the inputs apart, if there is one. */
  readonly wholeBecauseOf: string | undefined
  readonly wantedForm: VectorForm
}

/** One call that served some of the distinct inputs. */
export interface Served {
  readonly offer: Offer
  /** Slots of the distinct inputs it served, in its own order. */
  readonly slots: readonly number[]
  readonly answer: AccountedAnswer
}

export interface Gathered {
  /** One vector per input, in order, at the width of the answer. */
  readonly vectors: readonly Vector[]
  /** For each input, which distinct input it equals. */
  readonly slots: readonly number[]
  readonly served: readonly Served[]
}

/** What the parts of one request share. */
interface Parts {
  /** Where each distinct input stands in the request. */
  readonly firsts: readonly number[]
  /** By deployment: the calls of this request, whichever part they belong to. */
  readonly lanes: Map<string, Lanes>
  /** The first failure that ended the request: nothing more is begun; what is on its way is left to end. */
  failure: unknown
}

const ONE_SLOT = [0] as const

export async function gather(gathering: Gathering): Promise<Gathered> {
  const { input, wholeBecauseOf } = gathering
  const count = inputCount(input)
  if (count === 1) {
    const served = await serveOne(gathering)
    return { vectors: [narrowed(served, 0)], slots: ONE_SLOT, served: [served] }
  }
  const { firsts, slots } =
    wholeBecauseOf === undefined ? dedupe(input) : { firsts: [...countTo(count)], slots: [...countTo(count)] }
  const distinct = firsts.length === count ? input : pick(input, firsts)
  if (gathering.isLarge) await gathering.outside.nextTurn()
  const parts: Parts = { firsts, lanes: new Map(), failure: undefined }
  const served = await serve(gathering, parts, distinct, [...countTo(firsts.length)], gathering.offers)

  const bySlot = Array.from<Vector>({ length: firsts.length })
  for (const part of served)
    for (const [position, slot] of part.slots.entries()) bySlot[slot] = narrowed(part, position)
  return { vectors: slots.map((slot) => bySlot[slot] as Vector), slots, served }
}

/** One input, the most common request: nothing to dedupe, to split or to join. */
async function serveOne(gathering: Gathering): Promise<Served> {
  let { offers } = gathering
  let isSecondTry = false
  for (;;) {
    const offer = firstOf(offers)
    const ready = isReady(offer)
      ? gathering.input
      : await readyFor(gathering, gathering.input, offer, (index) => index)
    try {
      return { offer, slots: ONE_SLOT, answer: await attempt(gathering, offer, ready, gathering.wantedForm) }
    } catch (error) {
      const left = offersAfter(error, offers, isSecondTry)
      if (left === undefined) throw endOf(error, gathering)
      isSecondTry = left === offers
      offers = left
    }
  }
}

/** Serves some distinct inputs from the first offer that can, the later offers standing by for what fails. */
async function serve(
  gathering: Gathering,
  parts: Parts,
  input: Input,
  slots: readonly number[],
  offers: readonly Offer[],
  isSecondTry = false,
): Promise<Served[]> {
  const offer = firstOf(offers)
  const placeOf = (index: number): number => parts.firsts[slots[index] as number] ?? index
  const ready = isReady(offer) ? input : await readyFor(gathering, input, offer, placeOf)
  const runs = runsOf(ready, offer, gathering)
  if (gathering.isLarge) await gathering.outside.nextTurn()

  const serveRun = async ([start, end]: readonly [number, number]): Promise<Served[]> => {
    const whole = start === 0 && end === slots.length
    const runSlots = whole ? slots : slots.slice(start, end)
    try {
      const answer = await inLane(parts, offer, async () => {
        try {
          return await attempt(
            gathering,
            offer,
            whole ? ready : slice(ready, start, end),
            gathering.wantedForm,
          )
        } catch (error) {
          // Noted before the lane is free again, so that the next one in it finds out.
          if (offersAfter(error, offers, isSecondTry) === undefined) parts.failure ??= endOf(error, gathering)
          throw error
        }
      })
      return [{ offer, slots: runSlots, answer }]
    } catch (error) {
      if (parts.failure !== undefined) throw parts.failure
      const left = offersAfter(error, offers, isSecondTry) as readonly Offer[]
      const rest = whole ? input : slice(input, start, end)
      return serve(gathering, parts, rest, runSlots, left, left === offers)
    }
  }
  return (await Promise.all(runs.map(serveRun))).flat()
}

function firstOf([offer]: readonly Offer[]): Offer {
  if (offer === undefined) throw new Fault('internal_error', 'No deployment was left to try.')
  return offer
}

/** Who is tried after this error; undefined: nobody, it ends the request. */
function offersAfter(
  error: unknown,
  offers: readonly Offer[],
  isSecondTry: boolean,
): readonly Offer[] | undefined {
  if (!(error instanceof UpstreamFailure) || !error.mayTryAnother) return undefined
  if (offers.length > 1) return offers.slice(1)
  // A connection cut before any answer is often an idle one closed under us: worth one more try where there is no other.
  return error.kind === 'unreachable' && !isSecondTry ? offers : undefined
}

/** What the caller is told when this error ends the request. */
function endOf(error: unknown, { model, attemptsMade }: Gathering): unknown {
  return error instanceof UpstreamFailure ? faultOfFailure(error, model.id, attemptsMade()) : error
}

/** Whether this deployment takes the inputs as they came. */
function isReady(offer: Offer): boolean {
  return !offer.decodesTokens && offer.prefix === ''
}

/** The inputs as this deployment takes them. */
async function readyFor(
  gathering: Gathering,
  input: Input,
  offer: Offer,
  placeOf: (index: number) => number,
): Promise<Input> {
  const texts = offer.decodesTokens ? await decodeTokens(gathering, input, placeOf) : input
  return offer.prefix === '' ? texts : withPrefix(texts, offer.prefix)
}

function runsOf(
  input: Input,
  offer: Offer,
  { outside, wholeBecauseOf }: Gathering,
): (readonly [number, number])[] {
  const { capabilities } = offer.deployment
  const count = inputCount(input)
  if (count === 1) return [[0, 1]]
  const bounded = capabilities.maxTokens !== undefined || capabilities.maxBytes !== undefined
  if (count <= capabilities.maxInputs && !bounded) return [[0, count]]
  // Room for the rest of the body: model name, options and braces.
  const maxBytes = capabilities.maxBytes === undefined ? undefined : capabilities.maxBytes - 4096
  const runs = split(weightsOf(input, capabilities.maxBytes !== undefined, outside.bytesOf), {
    ...capabilities,
    maxBytes,
  })
  if (runs.length > 1 && wholeBecauseOf !== undefined) {
    throw new Fault(
      'request_not_splittable',
      `${count} inputs need ${runs.length} calls to ${offer.deployment.id}, and the field '${wholeBecauseOf}' forbids taking them apart. Send fewer inputs, or remove it.`,
      { param: wholeBecauseOf },
    )
  }
  return runs
}

/** Bytes stand for tokens where nobody counted: there are never more tokens than bytes, so a call never exceeds its cap. */
function weightsOf(input: Input, needsBytes: boolean, bytesOf: (text: string) => number): Weight[] {
  if (input.kind === 'tokens') {
    return input.tokens.map((tokens) => ({ tokens: tokens.length, bytes: tokens.length * 11 + 3 }))
  }
  return input.texts.map((text) => ({
    tokens: bytesOf(text),
    // With its comma.
    bytes: needsBytes ? bytesOf(JSON.stringify(text)) + 1 : 0,
  }))
}

function narrowed({ offer, answer }: Served, position: number): Vector {
  const vector = answer.vectors[position] as Vector
  if (offer.width === offer.upstreamWidth) return vector
  return { form: 'float32', values: truncate(valuesOf(vector), offer.width) }
}

/** A call of many: when its deployment has room for it, and only while the request has not failed. */
function inLane(
  parts: Parts,
  { deployment }: Offer,
  call: () => Promise<AccountedAnswer>,
): Promise<AccountedAnswer> {
  let lanes = parts.lanes.get(deployment.id)
  if (lanes === undefined) {
    lanes = new Lanes(deployment.capabilities.maxParallelCalls)
    parts.lanes.set(deployment.id, lanes)
  }
  return lanes.run(() => (parts.failure === undefined ? call() : Promise.reject(parts.failure as Error)))
}

function pick(input: Input, positions: readonly number[]): Input {
  return input.kind === 'texts'
    ? { kind: 'texts', texts: positions.map((position) => input.texts[position] as string) }
    : { kind: 'tokens', tokens: positions.map((position) => input.tokens[position] as TokenIds) }
}

function slice(input: Input, start: number, end: number): Input {
  return input.kind === 'texts'
    ? { kind: 'texts', texts: input.texts.slice(start, end) }
    : { kind: 'tokens', tokens: input.tokens.slice(start, end) }
}

function countTo(count: number): Iterable<number> {
  return Array.from({ length: count }).keys()
}
