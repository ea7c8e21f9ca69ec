/**
 * Texts in, vectors out, in order: dedupe inside the request, split what is left by the deployment's caps, attempt each
 * part, and fall back part by part to the next deployment, split anew by that one's caps.
 */
import { dedupe, jsonBytesOf, split, utf8BytesOf, type Weight } from '#core/embedding/batches.ts'
import type { Input } from '#core/embedding/input.ts'
import { truncate, valuesOf, type Vector, type VectorForm } from '#core/embedding/vector.ts'
import { UpstreamFailure } from '#core/failure.ts'
import { Fault, faultOfFailure } from '#core/fault.ts'
import type { Offer } from '#core/negotiate.ts'
import type { EmbeddingAnswer } from '#ports/upstream.ts'
import { attempt, inputCount, type Attempting } from './attempt.ts'
import { decodeTokens, withPrefix } from './inputs.ts'

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
  readonly answer: EmbeddingAnswer
}

export interface Gathered {
  /** One vector per input, in order, at the width of the answer. */
  readonly vectors: readonly Vector[]
  /** For each input, which distinct input it equals. */
  readonly slots: readonly number[]
  readonly served: readonly Served[]
}

const ONE_SLOT = [0] as const

export async function gather(gathering: Gathering): Promise<Gathered> {
  const { input, wholeBecauseOf } = gathering
  const count = inputCount(input)
  if (count === 1) {
    const served = await serve(gathering, input, ONE_SLOT, gathering.offers)
    return { vectors: [narrowed(served[0] as Served, 0)], slots: ONE_SLOT, served }
  }
  const { firsts, slots } =
    wholeBecauseOf === undefined ? dedupe(input) : { firsts: [...countTo(count)], slots: [...countTo(count)] }
  const distinct = firsts.length === count ? input : pick(input, firsts)
  const served = await serve(gathering, distinct, [...countTo(firsts.length)], gathering.offers)

  const bySlot = Array.from<Vector>({ length: firsts.length })
  for (const part of served)
    for (const [position, slot] of part.slots.entries()) bySlot[slot] = narrowed(part, position)
  return { vectors: slots.map((slot) => bySlot[slot] as Vector), slots, served }
}

/** Serves some distinct inputs from the first offer that can, the later offers standing by for what fails. */
async function serve(
  gathering: Gathering,
  input: Input,
  slots: readonly number[],
  offers: readonly Offer[],
  isSecondTry = false,
): Promise<Served[]> {
  const [offer, ...others] = offers
  if (offer === undefined) throw new Fault('internal_error', 'No deployment was left to try.')
  const ready = await readyFor(gathering, input, offer)
  const runs = runsOf(ready, offer, gathering.wholeBecauseOf)

  const serveRun = async ([start, end]: readonly [number, number]): Promise<Served[]> => {
    const whole = start === 0 && end === slots.length
    const runSlots = whole ? slots : slots.slice(start, end)
    try {
      const answer = await attempt(
        gathering,
        offer,
        whole ? ready : slice(ready, start, end),
        gathering.wantedForm,
      )
      return [{ offer, slots: runSlots, answer }]
    } catch (error) {
      if (!(error instanceof UpstreamFailure)) throw error
      // A connection cut before any answer is often an idle one closed under us: worth one more try where there is no other.
      const retriesSame = error.kind === 'unreachable' && others.length === 0 && !isSecondTry
      if (!error.mayTryAnother || (others.length === 0 && !retriesSame)) {
        throw faultOfFailure(error, gathering.model.id, gathering.attemptsMade())
      }
      return serve(
        gathering,
        whole ? input : slice(input, start, end),
        runSlots,
        retriesSame ? offers : others,
        retriesSame,
      )
    }
  }
  if (runs.length === 1) return serveRun(runs[0] as readonly [number, number])
  const parts = await inParallel(runs, offer.deployment.capabilities.maxParallelCalls, serveRun)
  return parts.flat()
}

/** The inputs as this deployment takes them. */
async function readyFor(gathering: Gathering, input: Input, offer: Offer): Promise<Input> {
  const texts = offer.decodesTokens ? await decodeTokens(gathering, input) : input
  return offer.prefix === '' ? texts : withPrefix(texts, offer.prefix)
}

function runsOf(
  input: Input,
  offer: Offer,
  wholeBecauseOf: string | undefined,
): (readonly [number, number])[] {
  const { capabilities } = offer.deployment
  const count = inputCount(input)
  if (count === 1) return [[0, 1]]
  const bounded = capabilities.maxTokens !== undefined || capabilities.maxBytes !== undefined
  if (count <= capabilities.maxInputs && !bounded) return [[0, count]]
  // Room for the rest of the body: model name, options and braces.
  const maxBytes = capabilities.maxBytes === undefined ? undefined : capabilities.maxBytes - 4096
  const runs = split(weightsOf(input, capabilities.maxBytes !== undefined), { ...capabilities, maxBytes })
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
function weightsOf(input: Input, needsBytes: boolean): Weight[] {
  if (input.kind === 'tokens') {
    return input.tokens.map((tokens) => ({ tokens: tokens.length, bytes: tokens.length * 11 + 3 }))
  }
  return input.texts.map((text) => ({ tokens: utf8BytesOf(text), bytes: needsBytes ? jsonBytesOf(text) : 0 }))
}

function narrowed({ offer, answer }: Served, position: number): Vector {
  const vector = answer.vectors[position] as Vector
  if (offer.width === offer.upstreamWidth) return vector
  return { form: 'float32', values: truncate(valuesOf(vector), offer.width) }
}

/** Runs at most `limit` at once and starts no more after a failure; what is already on its way is left to end. */
async function inParallel<Item, Result>(
  items: readonly Item[],
  limit: number,
  work: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results = Array.from<Result>({ length: items.length })
  let next = 0
  let failed = false
  const lane = async (): Promise<void> => {
    while (next < items.length && !failed) {
      const index = next
      next += 1
      try {
        results[index] = await work(items[index] as Item)
      } catch (error) {
        failed = true
        throw error
      }
    }
  }
  await Promise.all(Array.from({ length: Math.min(limit, items.length) }, lane))
  return results
}

function pick(input: Input, positions: readonly number[]): Input {
  return input.kind === 'texts'
    ? { kind: 'texts', texts: positions.map((position) => input.texts[position] as string) }
    : { kind: 'tokens', tokens: positions.map((position) => input.tokens[position] as readonly number[]) }
}

function slice(input: Input, start: number, end: number): Input {
  return input.kind === 'texts'
    ? { kind: 'texts', texts: input.texts.slice(start, end) }
    : { kind: 'tokens', tokens: input.tokens.slice(start, end) }
}

function countTo(count: number): Iterable<number> {
  return Array.from({ length: count }).keys()
}
