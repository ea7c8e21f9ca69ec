/**
 * Vectors that need not be made again: those in the cache, and those that another request of the same project
 * already waits for. Deployments make only the rest.
 */
import type { MicroBatchRules } from '#core/catalog/micro-batch-rules.ts'
import { tokensOfContents, totalOf } from '#core/embedding/content-use.ts'
import { inputCount, pick, type Input } from '#core/embedding/input.ts'
import type { Offer } from '#core/embedding/negotiate.ts'
import { valuesOf, type Vector } from '#core/embedding/vector.ts'
import { Fault } from '#core/fault/fault.ts'
import { divideTokens } from '#core/money/usage.ts'
import type { CachedVector, VectorCache } from '#ports/vector-cache.ts'
import type { AdmittedRequest } from './admitted-request.ts'
import type { MicroBatches } from './micro-batch.ts'
import { serve } from './serve.ts'
import { narrowed, placeVectors, type Hit, type KnownUsage, type ServedInputs } from './served.ts'
import { partUseOf, tokensOfEach } from './tokens.ts'

/** The rules by which one request shares with others. */
export interface SharingRules {
  /** Undefined when the model caches no vectors. */
  readonly cache: { readonly store: VectorCache; readonly ttlMs: number } | undefined
  /** The caller's directives: `no-cache` asks for fresh vectors, `no-store` also forbids keeping them. */
  readonly mayRead: boolean
  readonly mayKeep: boolean
  /** One digest for each input. */
  readonly digestsOf: (input: Input) => readonly string[]
  /** Whether a vector that this deployment made at that time still belongs to the model's space. */
  readonly isTrusted: (deployment: string, madeAtMs: number) => boolean
  /** Whether a good check has followed it. A later bad one can make the others suspect. */
  readonly isConfirmed: (deployment: string, madeAtMs: number) => boolean
  readonly flights: Flights
  readonly batches: MicroBatches
  readonly microBatch: MicroBatchRules | undefined
}

export interface SharedVectors {
  /** By slot, at the width of the answer. */
  readonly vectors: readonly Vector[]
  readonly served: readonly ServedInputs[]
  readonly hits: readonly Hit[]
}

/** A vector, and whether Torana cut it because its upstream ignored `dimensions`. */
interface ArrivedVector extends CachedVector {
  readonly isCut?: boolean | undefined
}

/** How a flight ended. Without a vector, the requests that waited for it fetch the text themselves. */
type Arrival = ArrivedVector | { readonly error: unknown }

interface Flight {
  readonly arrival: Promise<Arrival>
  /** The deadline of the flight. */
  readonly deadlineMs: number
}

/** The texts that requests are fetching, by digest. */
export class Flights {
  readonly #underWay = new Map<string, Flight>()

  /** A flight that ends before this deadline. */
  get(digest: string, deadlineMs: number): Promise<Arrival> | undefined {
    const flight = this.#underWay.get(digest)
    return flight !== undefined && flight.deadlineMs <= deadlineMs ? flight.arrival : undefined
  }

  /** Returns the function that ends the flight. Undefined when another request already fetches the text. */
  begin(digest: string, deadlineMs: number): ((arrival: Arrival) => void) | undefined {
    if (this.#underWay.has(digest)) return undefined
    const { promise, resolve } = Promise.withResolvers<Arrival>()
    this.#underWay.set(digest, { arrival: promise, deadlineMs })
    return (arrival) => {
      this.#underWay.delete(digest)
      resolve(arrival)
    }
  }
}

/** Times a request waits for others to fetch a text. After the second failure in a row it fails too. */
const MAX_WAITS = 2

export async function gatherShared(
  request: AdmittedRequest,
  sharing: SharingRules,
  distinct: Input,
): Promise<SharedVectors> {
  const count = inputCount(distinct)
  const digests = sharing.digestsOf(distinct)
  const { width } = request.offers[0] as Offer
  const bySlot = Array.from<Vector | undefined>({ length: count })
  const hits: Hit[] = []
  const served: ServedInputs[] = []
  const take = (slot: number, { values, ...made }: ArrivedVector): void => {
    bySlot[slot] = narrowed({ form: 'float32', values }, width)
    hits.push({ slot, ...made })
  }

  let wanted: number[] = []
  const found = await lookedUp(request, sharing, digests)
  request.trace.lookedUpMs = request.outside.clock.monotonicMs()
  for (const [slot, kept] of found.entries())
    if (kept === undefined) wanted.push(slot)
    else take(slot, kept)
  // The next round fetches texts that another request was to fetch and did not, perhaps for a reason specific to it.
  for (let round = 1; wanted.length > 0; round += 1) {
    const joined: (readonly [slot: number, flight: Promise<Arrival>])[] = []
    const own: number[] = []
    for (const slot of wanted) {
      const mayJoin = sharing.mayRead && round <= MAX_WAITS
      const flight = mayJoin ? sharing.flights.get(digests[slot] as string, request.deadlineMs) : undefined
      if (flight === undefined) own.push(slot)
      else joined.push([slot, flight])
    }
    served.push(...(await fetched(request, sharing, distinct, own, digests, bySlot)))
    wanted = []
    for (const [slot, flight] of joined) {
      const arrived = await flight
      if ('error' in arrived) {
        if (round === MAX_WAITS && isOfUpstreams(arrived.error)) throw arrived.error
        wanted.push(slot)
      }
      // The guard may have quarantined the deployment while the text was being fetched.
      else if (!sharing.isTrusted(arrived.deployment, arrived.madeAtMs)) wanted.push(slot)
      else take(slot, arrived)
    }
  }
  return { vectors: bySlot as Vector[], served, hits }
}

/** Whether the error is an upstream's: the next request would get the same. */
function isOfUpstreams(error: unknown): boolean {
  return error instanceof Fault && (error.entry.status >= 500 || error.code === 'upstream_rate_limited')
}

async function lookedUp(
  { outside: { clock } }: AdmittedRequest,
  { cache, mayRead, isTrusted }: SharingRules,
  digests: readonly string[],
): Promise<readonly (CachedVector | undefined)[]> {
  if (cache === undefined || !mayRead) return digests.map(() => undefined)
  const { store, ttlMs } = cache
  const found = await store.getMany(digests)
  // An operator may have shortened the time to live since the vector was cached.
  const oldestMs = clock.nowMs() - ttlMs
  return found.map((entry) =>
    entry !== undefined && entry.madeAtMs > oldestMs && isTrusted(entry.deployment, entry.madeAtMs)
      ? entry
      : undefined,
  )
}

async function fetched(
  request: AdmittedRequest,
  sharing: SharingRules,
  distinct: Input,
  slots: readonly number[],
  digests: readonly string[],
  bySlot: (Vector | undefined)[],
): Promise<readonly ServedInputs[]> {
  if (slots.length === 0) return []
  const { flights, batches, microBatch, mayKeep } = sharing
  const begun = new Map<string, (arrival: Arrival) => void>()
  for (const slot of mayKeep ? slots : []) {
    const digest = digests[slot] as string
    const end = flights.begin(digest, request.deadlineMs)
    if (end !== undefined) begun.set(digest, end)
  }
  const arrived = new Map<string, ArrivedVector>()
  let failure: unknown
  try {
    const input = slots.length === inputCount(distinct) ? distinct : pick(distinct, slots)
    const served =
      microBatch === undefined
        ? await serve(request, input, slots)
        : await batches.join(request, input, slots, microBatch)
    placeVectors(served, bySlot)
    if (mayKeep) for (const part of served) await keepPart(request, distinct, part, digests, arrived)
    keep(sharing, arrived)
    return served
  } catch (error) {
    failure = error
    throw error
  } finally {
    for (const [digest, end] of begun) end(arrived.get(digest) ?? { error: failure })
  }
}

/** Keeps each vector with its own tokens, so that a later answer can say what it would have used. */
async function keepPart(
  request: AdmittedRequest,
  distinct: Input,
  { offer, slots, answer }: ServedInputs,
  digests: readonly string[],
  arrived: Map<string, ArrivedVector>,
): Promise<void> {
  // A digest refers to vectors of the first offer's width. Vectors of another width are not shared.
  if (offer.upstreamWidth !== request.offers[0]?.upstreamWidth) return
  const madeAtMs = request.outside.clock.nowMs()
  const tokens =
    slots.length === 1
      ? [answer.usage.tokens]
      : await sharesOf(answer.usage, request, pick(distinct, slots), offer)
  for (const [position, slot] of slots.entries())
    arrived.set(digests[slot] as string, {
      values: valuesOf(answer.vectors[position] as Vector),
      tokens: tokens[position] as number,
      deployment: offer.deployment.id,
      madeAtMs,
      isCut: answer.isFullWidth,
    })
}

/** The tokens of each input of a call. */
async function sharesOf(
  usage: KnownUsage,
  request: AdmittedRequest,
  sent: Input,
  { deployment }: Offer,
): Promise<readonly number[]> {
  if (sent.kind !== 'contents') return divideTokens(usage.tokens, await tokensOfEach(request, sent))
  const { model, outside } = request
  const likely = sent.contents.map(
    (content) =>
      partUseOf({ ...sent, contents: [content] }, model, outside.bytesOf, deployment, 'likely') ?? {},
  )
  return tokensOfContents(usage, likely).map(totalOf)
}

function keep({ cache, mayKeep }: SharingRules, arrived: ReadonlyMap<string, CachedVector>): void {
  if (cache === undefined || !mayKeep) return
  const entries = Array.from(arrived, ([digest, vector]) => ({ digest, vector }))
  cache.store.setMany(entries, cache.ttlMs)
}
