/**
 * Distinct inputs in, their vectors out, from whichever deployments have a turn to give: split by the deployment's caps, each
 * part a call of its own, and what fails is tried at another one, split anew by that one's caps.
 */
import { split, type Weight } from '#core/embedding/batches.ts'
import { inputCount, slice, type Input } from '#core/embedding/input.ts'
import type { VectorForm } from '#core/embedding/vector.ts'
import { UpstreamFailure } from '#core/fault/failure.ts'
import { Fault } from '#core/fault/fault.ts'
import { faultOfFailure } from '#core/fault/of-failure.ts'
import type { Offer } from '#core/embedding/negotiate.ts'
import { attempt, type AccountedAnswer, type Attempting } from './attempt.ts'
import type { Dispatch, Turn, TurnAsked } from '../traffic/dispatch.ts'
import { decodeTokens, withPrefix } from './inputs.ts'

export interface Serving extends Attempting {
  readonly project: string
  readonly dispatch: Dispatch
  readonly offers: readonly Offer[]
  /** A field that forbids taking the inputs apart, if there is one. */
  readonly wholeBecauseOf: string | undefined
  readonly wantedForm: VectorForm
  /** Where an input stands in the request, for messages. */
  readonly placeOf: (slot: number) => number
}

/** One call that served some of the distinct inputs. */
export interface Served {
  readonly offer: Offer
  /** Slots of the distinct inputs it served, in its own order. */
  readonly slots: readonly number[]
  readonly answer: AccountedAnswer
}

/** Some inputs that are to be served by one call, if it fits. */
interface Part {
  readonly input: Input
  readonly slots: readonly number[]
  readonly offers: readonly Offer[]
  /** Calls for it that have failed. */
  readonly tries: number
  /** Why the last of them did. */
  readonly cause?: unknown
}

export async function serve(serving: Serving, input: Input, slots: readonly number[]): Promise<Served[]> {
  return servePart(serving, new Calls(), { input, slots, offers: serving.offers, tries: 0 })
}

/** Whatever leaves it ends the request: nothing more is begun for it. */
async function servePart(serving: Serving, calls: Calls, part: Part): Promise<Served[]> {
  try {
    const turn = await calls.turn(serving, part)
    const { ready, runs } = await prepared(serving, calls, part, turn)
    const [first, ...others] = runs
    if (first === undefined) throw new Fault('internal_error', 'There was nothing to serve.')
    if (others.length === 0) return await callOnce(serving, calls, part, turn, ready)
    if (serving.isLarge) await serving.outside.nextTurn()
    const cut = ([start, end]: readonly [number, number]): Part => ({
      ...part,
      input: slice(part.input, start, end),
      slots: part.slots.slice(start, end),
    })
    const served = await Promise.all([
      callOnce(serving, calls, cut(first), turn, slice(ready, ...first)),
      ...others.map((run) => servePart(serving, calls, { ...cut(run), cause: undefined })),
    ])
    return served.flat()
  } catch (error) {
    calls.fail(error)
    throw error
  }
}

/** The inputs as the deployment takes them, and how many of them go into each call. */
async function prepared(
  serving: Serving,
  calls: Calls,
  { input, slots }: Part,
  turn: Turn<Offer>,
): Promise<{ readonly ready: Input; readonly runs: readonly (readonly [number, number])[] }> {
  try {
    const ready = isReady(turn.offer) ? input : await readyFor(serving, input, slots, turn.offer)
    return { ready, runs: runsOf(ready, turn.offer, serving) }
  } catch (error) {
    calls.gaveBack(turn)
    throw error
  }
}

async function callOnce(
  serving: Serving,
  calls: Calls,
  part: Part,
  turn: Turn<Offer>,
  ready: Input,
): Promise<Served[]> {
  try {
    calls.check()
    const [answer] = await attempt([{ request: serving, inputs: ready }], turn.offer, serving.wantedForm)
    calls.ended(turn)
    return [{ offer: turn.offer, slots: part.slots, answer: answer as AccountedAnswer }]
  } catch (error) {
    const next = nextPart(serving, part, turn.offer, error)
    // Before the turn is given back, so that whoever gets it finds out.
    if (next === undefined) calls.fail(endOf(error, serving))
    calls.ended(turn, error)
    calls.check()
    if (next === undefined) throw error
    return servePart(serving, calls, next)
  }
}

/** What is tried after this error; undefined: nothing, it ends the request. */
function nextPart(serving: Serving, part: Part, failed: Offer, error: unknown): Part | undefined {
  if (!(error instanceof UpstreamFailure) || !error.mayTryAnother) return undefined
  const { clock, limits } = serving.outside
  if (error.kind === 'timedOut' && clock.monotonicMs() >= serving.deadlineMs) return undefined
  const offers = offersAfter(error, failed, part, limits.maxAttempts)
  return offers.length === 0 ? undefined : { ...part, offers, tries: part.tries + 1, cause: error }
}

/** Where a call that failed so may be made next; nowhere when it was tried often enough. */
export function offersAfter(
  { kind }: UpstreamFailure,
  failed: Offer,
  { offers, tries }: Pick<Part, 'offers' | 'tries'>,
  maxAttempts: number,
): readonly Offer[] {
  if (tries + 1 >= maxAttempts) return []
  const others = offers.filter(({ deployment }) => deployment.id !== failed.deployment.id)
  // A connection cut before any answer is often an idle one closed under us: worth one more try where there is no other.
  const isWorthIt = others.length === 0 && kind === 'unreachable' && tries === 0
  return isWorthIt ? offers : others
}

function askedBy(serving: Serving, input: Input): TurnAsked {
  const { model, project, deadlineMs } = serving
  return { model: model.id, project, tokens: tokensAsked(serving, input), images: 0, deadlineMs }
}

export function tokensAsked({ outside, offers }: Serving, input: Input): number {
  return Math.min(roughTokens(inOneCall(input, offers), outside.bytesOf), mostTokens(input, offers))
}

/** At most what one call can carry: what is left asks for itself. */
function inOneCall(input: Input, offers: readonly Offer[]): Input {
  const count = inputCount(input)
  if (count === 1) return input
  const most = Math.max(...offers.map(({ deployment }) => deployment.capabilities.maxInputs))
  return count <= most ? input : slice(input, 0, most)
}

/** Of one call, as they are estimated below: texts are split as if each byte were a token. */
function mostTokens({ kind }: Input, offers: readonly Offer[]): number {
  const each = offers.map(({ deployment: { capabilities } }) => {
    const { maxTokens = Infinity, maxBytes = Infinity } = capabilities
    return kind === 'tokens' ? maxTokens : Math.ceil(Math.min(maxTokens, maxBytes) / 4)
  })
  return Math.max(1, ...each)
}

/** For the limits of a deployment. English has about four bytes a token. */
function roughTokens(input: Input, bytesOf: (text: string) => number): number {
  if (input.kind === 'tokens') return input.tokens.reduce((sum, ids) => sum + ids.length, 0)
  let bytes = 0
  for (const text of input.texts) bytes += bytesOf(text)
  return Math.ceil(bytes / 4)
}

/** What the caller is told when this error ends the request. */
export function endOf(
  error: unknown,
  { model, attemptsMade }: Pick<Attempting, 'model' | 'attemptsMade'>,
): unknown {
  return error instanceof UpstreamFailure ? faultOfFailure(error, model.id, attemptsMade()) : error
}

/** Woken when a call ends: more than one, since one may find that its place was taken by somebody else. */
const WOKEN_AT_ONCE = 8

/** The calls of one request that are under way, so that no deployment gets more of them at once than it takes. */
class Calls {
  #hasFailed = false
  #failure: unknown
  #begun = 0
  readonly #underWay = new Map<string, number>()
  readonly #waiting: (() => void)[] = []
  /** Parts that wait for a turn: no more of them than could have one at once, or they would be the line. */
  #inLine = 0

  /** The first failure ends the request: nothing more is begun; what is on its way is left to end. */
  fail(error: unknown): void {
    if (this.#hasFailed) return
    this.#hasFailed = true
    this.#failure = error
    this.#wake(this.#waiting.length)
  }

  check(): void {
    if (this.#hasFailed) throw this.#failure
  }

  async turn(serving: Serving, part: Part): Promise<Turn<Offer>> {
    for (;;) {
      this.check()
      const open = part.offers.filter((offer) => this.#hasRoom(offer))
      const mayAsk = open.length > 0 && this.#inLine < roomOf(open)
      const asked = mayAsk ? this.#ask(serving, part, open) : undefined
      const turn = asked instanceof Promise ? await this.#awaited(asked) : asked
      if (turn === undefined) {
        await new Promise<void>((resolve) => this.#waiting.push(resolve))
        continue
      }
      const { id } = turn.offer.deployment
      if (!this.#hasFailed && this.#hasRoom(turn.offer)) {
        this.#underWay.set(id, (this.#underWay.get(id) ?? 0) + 1)
        this.#begun += 1
        return turn
      }
      // Another part came first while this one stood in line, or ended the request.
      turn.giveBack()
    }
  }

  async #awaited(asked: Promise<Turn<Offer>>): Promise<Turn<Offer>> {
    this.#inLine += 1
    try {
      return await asked
    } finally {
      this.#inLine -= 1
    }
  }

  /** Undefined: one of the request's own calls will make room sooner than anybody else's. */
  #ask(serving: Serving, part: Part, open: readonly Offer[]): Turn<Offer> | undefined | Promise<Turn<Offer>> {
    const { dispatch } = serving
    const isWaitingForOwn = open.length < part.offers.length
    const asked = { ...askedBy(serving, part.input), isBegun: this.#begun > 0 }
    if (part.cause === undefined)
      return isWaitingForOwn ? dispatch.turnNow(open, asked) : dispatch.turn(open, asked)
    const turn = dispatch.again(open, asked)
    if (turn !== undefined || isWaitingForOwn) return turn
    throw endOf(part.cause, serving)
  }

  ended(turn: Turn<Offer>, error?: unknown): void {
    this.#release(turn)
    turn.end(error)
    this.#wake(WOKEN_AT_ONCE)
  }

  gaveBack(turn: Turn<Offer>): void {
    this.#release(turn)
    turn.giveBack()
    this.#wake(WOKEN_AT_ONCE)
  }

  #release({ offer: { deployment } }: Turn<Offer>): void {
    this.#underWay.set(deployment.id, (this.#underWay.get(deployment.id) ?? 1) - 1)
  }

  #wake(count: number): void {
    for (const resolve of this.#waiting.splice(0, count)) resolve()
  }

  #hasRoom({ deployment }: Offer): boolean {
    return (this.#underWay.get(deployment.id) ?? 0) < deployment.capabilities.maxParallelCalls
  }
}

function roomOf(offers: readonly Offer[]): number {
  return offers.reduce((sum, { deployment }) => sum + deployment.capabilities.maxParallelCalls, 0)
}

/** Whether this deployment takes the inputs as they came. */
export function isReady(offer: Offer): boolean {
  return !offer.decodesTokens && offer.prefix === ''
}

/** The inputs as this deployment takes them. */
export async function readyFor(
  serving: Serving,
  input: Input,
  slots: readonly number[],
  offer: Offer,
): Promise<Input> {
  const placeOf = (index: number): number => serving.placeOf(slots[index] ?? index)
  const texts = offer.decodesTokens ? await decodeTokens(serving, input, placeOf) : input
  return offer.prefix === '' ? texts : withPrefix(texts, offer.prefix)
}

export function runsOf(
  input: Input,
  offer: Offer,
  { outside, wholeBecauseOf }: Pick<Serving, 'outside' | 'wholeBecauseOf'>,
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
      `${count} inputs need ${runs.length} calls to ${offer.deployment.id}, and Torana does not split a request with the unknown field '${wholeBecauseOf}'. Send fewer inputs, or remove the field.`,
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
