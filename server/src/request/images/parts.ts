/**
 * Buys the pictures of one job: one call or several side by side, each at most once. A call whose end is not known is never
 * made again; one that provably bought nothing may be made at the next deployment.
 */
import { outOfTime, UpstreamFailure } from '#core/fault/failure.ts'
import { Fault } from '#core/fault/fault.ts'
import { fanOut, type ImageOffer } from '#core/image/negotiate.ts'
import { Semaphore } from '#core/semaphore.ts'
import { JobLost } from '#ports/image-jobs.ts'
import type { Turn, TurnAsked } from '../traffic/dispatch.ts'
import { beginCall, exchange, type Bought, type BuyingOutside, type ImageRun } from './run.ts'

/** What all parts of one purchase share. */
interface Buying {
  readonly run: ImageRun
  /** So many calls side by side. */
  readonly places: Semaphore
  readonly outside: BuyingOutside
  /** How each part ends; none rejects. It grows while they run: what one deployment does not take in one call is a part too. */
  readonly ends: Promise<Bought | { readonly error: unknown }>[]
  /** Calls under way or paid for. */
  begun: number
  /** Somebody else works on this job now. */
  lost: JobLost | undefined
}

interface Part {
  readonly images: number
  readonly offers: readonly ImageOffer[]
  readonly tries: number
}

/** So many pictures, from whichever deployments have a turn to give. Nothing of it is under way any more when it ends. */
export async function buy(
  run: ImageRun,
  images: number,
  offers: readonly ImageOffer[],
  outside: BuyingOutside,
): Promise<Bought> {
  if (offers.length === 0) throw new Fault('internal_error', 'No deployment was left to try.')
  // Side by side no more than the most cautious of them takes, since any of them may get each call.
  const most = Math.min(...offers.map(({ deployment }) => deployment.capabilities.maxParallelCalls))
  const buying: Buying = {
    run,
    places: new Semaphore(most),
    outside,
    ends: [],
    begun: run.isResumed ? 1 : 0,
    lost: undefined,
  }
  begin(buying, { images, offers, tries: 0 })
  const parts: Bought[] = []
  const errors: unknown[] = []
  for (const end of buying.ends) {
    const part = await end
    if ('error' in part) errors.push(part.error)
    else parts.push(part)
  }
  if (errors.length > 0) throw buying.lost ?? errors[0]
  return {
    deliveries: parts.flatMap(({ deliveries }) => deliveries),
    failures: parts.flatMap(({ failures }) => failures),
  }
}

function begin(buying: Buying, part: Part): void {
  const end = buying.places
    .run(() => buyPart(buying, part))
    .catch((error: unknown) => {
      if (error instanceof JobLost) buying.lost ??= error
      return { error }
    })
  buying.ends.push(end)
}

/** One call, and others in its place as long as it provably bought nothing. In one place: a turn is used as soon as it comes. */
async function buyPart(buying: Buying, { images, offers, tries }: Part): Promise<Bought> {
  const { dispatch, limits } = buying.outside
  let left = offers
  let wanted = images
  let failure: unknown
  let ask: Ask = (some, asked) => dispatch.turn(some, asked)
  for (let tried = tries; ; tried += 1) {
    using ready = await readyCall(buying, left, wanted, ask).catch((error: unknown) => {
      failure ??= error
      return undefined
    })
    if (buying.lost) {
      ready?.turn.giveBack()
      throw buying.lost
    }
    if (ready === undefined) return { deliveries: [], failures: [failure] }
    buying.begun += 1
    const [, ...later] = fanOut(wanted, ready.images)
    for (const count of later) begin(buying, { images: count, offers: left, tries: tried })
    wanted = ready.images
    try {
      return { deliveries: [await call(buying, ready)], failures: [] }
    } catch (error) {
      if (error instanceof JobLost) throw error
      failure = error
      const { id } = ready.turn.offer.deployment
      left = left.filter(({ deployment }) => deployment.id !== id)
      const mayTryAnother = error instanceof UpstreamFailure && error.mayTryAnother && !error.mayBeCharged
      if (!mayTryAnother || left.length === 0 || tried + 1 >= limits.maxAttempts)
        return { deliveries: [], failures: [error] }
      ask = (some, asked) => dispatch.again(some, asked)
    }
  }
}

async function call(buying: Buying, { turn, images }: ReadyCall): ReturnType<typeof exchange> {
  const { run, outside } = buying
  const sent = await beginCall(run, images, turn, outside).catch((error: unknown) => {
    buying.begun -= 1
    // Nothing was sent, so nothing was learnt of the deployment.
    turn.giveBack()
    throw error
  })
  try {
    return await exchange(run, sent, outside)
  } catch (error) {
    if (error instanceof UpstreamFailure && !error.mayBeCharged) buying.begun -= 1
    throw error
  }
}

type Ask = (
  offers: readonly ImageOffer[],
  asked: TurnAsked,
) => Turn<ImageOffer> | undefined | Promise<Turn<ImageOffer>>

/** All that a call needs before it is begun. */
interface ReadyCall extends Disposable {
  readonly turn: Turn<ImageOffer>
  readonly images: number
}

/** What a call takes, which is not the same at every deployment. */
interface Needs {
  readonly images: number
  /** Of memory. */
  readonly bytes: number
  readonly maskColour: 'white' | 'black' | undefined
}

/**
 * Memory and mask first, then a turn for as many pictures as the call will carry: the time that we need ourselves is not the
 * deployment's, and who waits for memory keeps nobody from it. Where deployments differ, it is known only by the turn what
 * its call takes; if that is not what was made ready, the turn is given back, and one for it asked for. Undefined: none now.
 */
async function readyCall(
  buying: Buying,
  offers: readonly ImageOffer[],
  images: number,
  ask: Ask,
): Promise<ReadyCall | undefined> {
  const { run } = buying
  let asked = offers
  for (let needs = sharedNeeds(run, offers, images); ;) {
    using held = new DisposableStack()
    await makeReady(buying, asked, needs, held)
    const turn = await ask(asked, askedBy(buying, needs.images))
    if (turn === undefined) return undefined
    const own = needsOf(run, turn.offer, images)
    if (isAlike(own, needs)) {
      const kept = held.move()
      return { turn, images: own.images, [Symbol.dispose]: () => kept.dispose() }
    }
    turn.giveBack()
    needs = own
    asked = offers.filter((offer) => isAlike(needsOf(run, offer, images), own))
  }
}

/** What a call takes at all of them; where they differ, the least memory and the most pictures that any of them takes. */
function sharedNeeds(run: ImageRun, offers: readonly ImageOffer[], images: number): Needs {
  const all = offers.map((offer) => needsOf(run, offer, images))
  const colours = new Set(all.map(({ maskColour }) => maskColour))
  return {
    images: Math.max(...all.map((needs) => needs.images)),
    bytes: Math.min(...all.map(({ bytes }) => bytes)),
    maskColour: colours.size === 1 ? all[0]?.maskColour : undefined,
  }
}

function needsOf({ inputs }: ImageRun, offer: ImageOffer, images: number): Needs {
  return {
    images: Math.min(images, offer.deployment.capabilities.maxImages),
    bytes: inputs?.bufferedBytes(offer) ?? 0,
    maskColour: inputs && offer.edit?.maskColour,
  }
}

function isAlike(one: Needs, other: Needs): boolean {
  return one.images === other.images && one.bytes === other.bytes && one.maskColour === other.maskColour
}

async function makeReady(
  { run, outside }: Buying,
  offers: readonly ImageOffer[],
  { bytes, maskColour }: Needs,
  held: DisposableStack,
): Promise<void> {
  const [offer] = offers as readonly [ImageOffer, ...ImageOffer[]]
  const leftMs = run.deadlineMs - outside.clock.monotonicMs()
  const buffers = await outside.memory.take(bytes, leftMs, outside.wait)
  if (buffers === undefined) throw outOfTime(offer.deployment.id)
  held.use(buffers)
  // Made once for all calls.
  if (maskColour !== undefined) await run.inputs?.callFor(offer, run.deadlineMs)
}

function askedBy({ run, begun }: Buying, images: number): TurnAsked {
  const { model, books, deadlineMs } = run
  return { model: model.id, project: books.project, tokens: 0, images, deadlineMs, isBegun: begun > 0 }
}
