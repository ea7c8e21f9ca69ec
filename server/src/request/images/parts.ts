/**
 * Buys the images of one job in one or several concurrent calls, each made at most once. A call whose end is
 * unknown is never repeated. A call that provably bought nothing may be made at the next deployment.
 */
import { outOfTime, UpstreamFailure } from '#core/fault/failure.ts'
import { Fault } from '#core/fault/fault.ts'
import { fanOut, type ImageOffer } from '#core/image/negotiate.ts'
import { Semaphore } from '#core/structure/semaphore.ts'
import { JobLost } from '#ports/image-jobs.ts'
import type { CalledWork } from '../traffic/ended-call.ts'
import type { Turn, TurnRequest } from '../traffic/turn.ts'
import { offersAfter, type TriedWork } from '../traffic/next-deployment.ts'
import { beginCall, exchange, type Bought, type BuyingOutside, type ImageRun } from './run.ts'

/** State shared by all parts of one purchase. */
interface Purchase {
  readonly run: ImageRun
  /** Slots for concurrent calls. */
  readonly places: Semaphore
  readonly outside: BuyingOutside
  /**
   * How each part ends; none rejects. The list grows when a deployment takes fewer images per call: the rest
   * becomes another part.
   */
  readonly ends: Promise<Bought | { readonly error: unknown }>[]
  /** Calls in progress or paid for. */
  begun: number
  /** Set when another node works on this job now. */
  lost: JobLost | undefined
}

interface Part extends TriedWork<ImageOffer> {
  readonly images: number
  readonly work: CalledWork
}

/** Buys `images` images from the deployments that have a free turn. When it ends, no call is in progress any more. */
export async function buy(
  run: ImageRun,
  images: number,
  offers: readonly ImageOffer[],
  outside: BuyingOutside,
): Promise<Bought> {
  if (offers.length === 0) throw new Fault('internal_error', 'No deployment was left to try.')
  // At most as many concurrent calls as every deployment takes, since any of them may get each call.
  const most = Math.min(...offers.map(({ deployment }) => deployment.capabilities.maxParallelCalls))
  const purchase: Purchase = {
    run,
    places: new Semaphore(most),
    outside,
    ends: [],
    begun: run.isResumed ? 1 : 0,
    lost: undefined,
  }
  begin(purchase, { images, offers, tries: 0, work: newWork(purchase) })
  const parts: Bought[] = []
  const errors: unknown[] = []
  for (const end of purchase.ends) {
    const part = await end
    if ('error' in part) errors.push(part.error)
    else parts.push(part)
  }
  if (errors.length > 0) throw purchase.lost ?? errors[0]
  return {
    deliveries: parts.flatMap(({ deliveries }) => deliveries),
    failures: parts.flatMap(({ failures }) => failures),
  }
}

function begin(purchase: Purchase, part: Part): void {
  const end = purchase.places
    .run(() => buyPart(purchase, part))
    .catch((error: unknown) => {
      if (error instanceof JobLost) purchase.lost ??= error
      return { error }
    })
  purchase.ends.push(end)
}

/** Makes one call, and replaces it as long as it provably bought nothing. The replacements use the same slot. */
async function buyPart(purchase: Purchase, part: Part): Promise<Bought> {
  const { maxAttempts } = purchase.outside.limits
  let { images, offers } = part
  let failure: unknown
  for (let { tries } = part; ; tries += 1) {
    using ready = await readyCall(purchase, offers, images, failure).catch((error: unknown) => {
      failure ??= error
      return undefined
    })
    if (purchase.lost) {
      ready?.turn.giveBack()
      throw purchase.lost
    }
    if (ready === undefined) return { deliveries: [], failures: [failure] }
    purchase.begun += 1
    const [, ...later] = fanOut(images, ready.images)
    for (const count of later) begin(purchase, { images: count, offers, tries, work: newWork(purchase) })
    images = ready.images
    try {
      return { deliveries: [await call(purchase, ready, part.work)], failures: [] }
    } catch (error) {
      if (error instanceof JobLost) throw error
      failure = error
      offers = offersAfter(error, ready.turn.offer, { offers, tries }, { maxAttempts, buysOnce: true })
      if (offers.length === 0) return { deliveries: [], failures: [error] }
    }
  }
}

/** Parts are numbered in the order in which they begin. */
function newWork({ ends }: Purchase): CalledWork {
  return { part: ends.length, attempt: undefined }
}

async function call(
  purchase: Purchase,
  { turn, images }: ReadyCall,
  work: CalledWork,
): ReturnType<typeof exchange> {
  const { run, outside } = purchase
  const sent = await beginCall(run, images, turn, work, outside).catch((error: unknown) => {
    purchase.begun -= 1
    // Nothing was sent, so nothing was learnt about the deployment.
    turn.giveBack()
    throw error
  })
  try {
    return await exchange(run, sent, outside)
  } catch (error) {
    if (error instanceof UpstreamFailure && !error.mayBeCharged) purchase.begun -= 1
    throw error
  }
}

/** Everything that a call needs before it begins. */
interface ReadyCall extends Disposable {
  readonly turn: Turn<ImageOffer>
  readonly images: number
}

/** What a call needs, which differs by deployment. */
interface Needs {
  readonly images: number
  /** Bytes of memory. */
  readonly bytes: number
  readonly maskColour: 'white' | 'black' | undefined
}

/**
 * Prepares memory and mask first and then asks for a turn for as many images as the call will carry: our own
 * time must not count as the deployment's, and a call that waits for memory holds no turn. Where deployments
 * differ, only the turn shows what its call needs. If something else was prepared, the turn is given back and
 * the call asks again. `failure`: why the call before it failed, if there was one. Undefined when there is no
 * turn now.
 */
async function readyCall(
  purchase: Purchase,
  offers: readonly ImageOffer[],
  images: number,
  failure: unknown,
): Promise<ReadyCall | undefined> {
  const { run, outside } = purchase
  let asked = offers
  for (let needs = sharedNeeds(run, offers, images); ;) {
    using held = new DisposableStack()
    await makeReady(purchase, asked, needs, held)
    const request = turnRequest(purchase, needs.images)
    const turn = await (failure === undefined
      ? outside.dispatch.turn(asked, request)
      : outside.dispatch.again(asked, request))
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

/** What a call needs at these deployments. Where they differ: the least memory and the most images of any. */
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
  { run, outside }: Purchase,
  offers: readonly ImageOffer[],
  { bytes, maskColour }: Needs,
  held: DisposableStack,
): Promise<void> {
  const [offer] = offers as readonly [ImageOffer, ...ImageOffer[]]
  const leftMs = run.deadlineMs - outside.clock.monotonicMs()
  const buffers = await outside.memory.takeBefore(run.ledger.project, bytes, () => outside.wait(leftMs))
  if (buffers === undefined) throw outOfTime(offer.deployment.id)
  held.use(buffers)
  // The mask is made once for all calls.
  if (maskColour !== undefined) await run.inputs?.callFor(offer, run.deadlineMs)
}

function turnRequest({ run, begun }: Purchase, images: number): TurnRequest {
  const { model, ledger, deadlineMs, background } = run
  return {
    model: model.id,
    project: ledger.project,
    tokens: 0,
    images,
    deadlineMs,
    isBegun: begun > 0,
    isBackground: background !== undefined,
    batchId: background?.batchId,
    caller: background?.caller,
  }
}
