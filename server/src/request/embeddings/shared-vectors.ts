/**
 * Vectors that need not be made again: those that are in the cache, and those that another request of the same project is
 * waiting for at this moment. Only what is left goes to a deployment.
 */
import type { MicroBatching } from '#core/catalog.ts'
import { inputCount, pick, type Input } from '#core/embedding/input.ts'
import { truncate, valuesOf, type Vector } from '#core/embedding/vector.ts'
import { Fault } from '#core/fault/fault.ts'
import type { Offer } from '#core/embedding/negotiate.ts'
import { divideTokens } from '#core/usage.ts'
import type { CachedVector, VectorCache } from '#ports/vector-cache.ts'
import type { MicroBatches } from './micro-batch.ts'
import { serve, type Served, type Serving } from './serve.ts'
import { tokensOfEach } from './usage.ts'

/** How one request may share with others. */
export interface Sharing {
  /** Undefined: its model keeps no vectors. */
  readonly cache: { readonly store: VectorCache; readonly ttlMs: number } | undefined
  /** What the caller said: `no-cache` asks for fresh vectors, `no-store` also forbids keeping them. */
  readonly mayRead: boolean
  readonly mayKeep: boolean
  /** One digest for each input. */
  readonly digestsOf: (input: Input) => readonly string[]
  /** Whether what a deployment made then is still believed to lie in the model's space. */
  readonly isTrusted: (deployment: string, madeAtMs: number) => boolean
  readonly flights: Flights
  readonly batches: MicroBatches
  readonly microBatch: MicroBatching | undefined
}

/** A vector that cost nothing now. */
export interface Hit {
  readonly slot: number
  readonly tokens: number
  /** Who made it, and when. */
  readonly deployment: string
  readonly madeAtMs: number
}

export interface SharedVectors {
  /** By slot, at the width of the answer. */
  readonly vectors: readonly Vector[]
  readonly served: readonly Served[]
  readonly hits: readonly Hit[]
}

/** What came of a text that was on its way; without a vector, others fetch it themselves. */
type Arrival = CachedVector | { readonly error: unknown }

interface Flight {
  readonly arrival: Promise<Arrival>
  /** When it has ended, whatever happens. */
  readonly deadlineMs: number
}

/** By digest. */
export class Flights {
  readonly #underWay = new Map<string, Flight>()

  /** One that ends while the asker still has time. */
  get(digest: string, deadlineMs: number): Promise<Arrival> | undefined {
    const flight = this.#underWay.get(digest)
    return flight !== undefined && flight.deadlineMs <= deadlineMs ? flight.arrival : undefined
  }

  /** Returns how to end it. Undefined: somebody else was first. */
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

/** How often a request waits for others to fetch a text. A second failure in a row is everybody's. */
const MAX_WAITS = 2

export async function gatherShared(
  serving: Serving,
  sharing: Sharing,
  distinct: Input,
): Promise<SharedVectors> {
  const count = inputCount(distinct)
  const digests = sharing.digestsOf(distinct)
  const { width } = serving.offers[0] as Offer
  const bySlot = Array.from<Vector | undefined>({ length: count })
  const hits: Hit[] = []
  const served: Served[] = []
  const take = (slot: number, { values, ...made }: CachedVector): void => {
    bySlot[slot] = narrowed({ form: 'float32', values }, width)
    hits.push({ slot, ...made })
  }

  let wanted: number[] = []
  for (const [slot, kept] of (await lookedUp(serving, sharing, digests)).entries())
    if (kept === undefined) wanted.push(slot)
    else take(slot, kept)
  // Again for what others were to fetch and did not, perhaps for reasons of their own: one of those who waited fetches it.
  for (let round = 1; wanted.length > 0; round += 1) {
    const joined: (readonly [slot: number, flight: Promise<Arrival>])[] = []
    const own: number[] = []
    for (const slot of wanted) {
      const mayJoin = sharing.mayRead && round <= MAX_WAITS
      const flight = mayJoin ? sharing.flights.get(digests[slot] as string, serving.deadlineMs) : undefined
      if (flight === undefined) own.push(slot)
      else joined.push([slot, flight])
    }
    served.push(...(await fetched(serving, sharing, distinct, own, digests, bySlot)))
    wanted = []
    for (const [slot, flight] of joined) {
      const arrived = await flight
      if ('error' in arrived) {
        if (round === MAX_WAITS && isOfUpstreams(arrived.error)) throw arrived.error
        wanted.push(slot)
      }
      // Its deployment may have been found outside the space while it was on its way.
      else if (!sharing.isTrusted(arrived.deployment, arrived.madeAtMs)) wanted.push(slot)
      else take(slot, arrived)
    }
  }
  return { vectors: bySlot as Vector[], served, hits }
}

/** Not of the request that met it: whoever asks next would hear the same. */
function isOfUpstreams(error: unknown): boolean {
  return error instanceof Fault && (error.entry.status >= 500 || error.code === 'upstream_rate_limited')
}

async function lookedUp(
  { outside: { clock } }: Serving,
  { cache, mayRead, isTrusted }: Sharing,
  digests: readonly string[],
): Promise<readonly (CachedVector | undefined)[]> {
  if (cache === undefined || !mayRead) return digests.map(() => undefined)
  const { store, ttlMs } = cache
  const found = await store.getMany(digests)
  // Its time may have been made shorter since it was kept.
  const oldestMs = clock.nowMs() - ttlMs
  return found.map((entry) =>
    entry !== undefined && entry.madeAtMs > oldestMs && isTrusted(entry.deployment, entry.madeAtMs)
      ? entry
      : undefined,
  )
}

async function fetched(
  serving: Serving,
  sharing: Sharing,
  distinct: Input,
  slots: readonly number[],
  digests: readonly string[],
  bySlot: (Vector | undefined)[],
): Promise<readonly Served[]> {
  if (slots.length === 0) return []
  const { flights, batches, microBatch, mayKeep } = sharing
  const begun = new Map<string, (arrival: Arrival) => void>()
  for (const slot of mayKeep ? slots : []) {
    const digest = digests[slot] as string
    const end = flights.begin(digest, serving.deadlineMs)
    if (end !== undefined) begun.set(digest, end)
  }
  const arrived = new Map<string, CachedVector>()
  let failure: unknown
  try {
    const input = slots.length === inputCount(distinct) ? distinct : pick(distinct, slots)
    const served =
      microBatch === undefined
        ? await serve(serving, input, slots)
        : await batches.join(serving, input, slots, microBatch)
    for (const part of served) {
      for (const [position, slot] of part.slots.entries())
        bySlot[slot] = fromOffer(part.answer.vectors[position] as Vector, part.offer)
      if (mayKeep) await keepPart(serving, distinct, part, digests, arrived)
    }
    keep(sharing, arrived)
    return served
  } catch (error) {
    failure = error
    throw error
  } finally {
    for (const [digest, end] of begun) end(arrived.get(digest) ?? { error: failure })
  }
}

/** Each vector with its own tokens, so that a later answer can say what it would have used. */
async function keepPart(
  serving: Serving,
  distinct: Input,
  { offer, slots, answer }: Served,
  digests: readonly string[],
  arrived: Map<string, CachedVector>,
): Promise<void> {
  // Digests stand for the width of the first offer; what another deployment makes narrower or wider is nobody else's.
  if (offer.upstreamWidth !== serving.offers[0]?.upstreamWidth) return
  const madeAtMs = serving.outside.clock.nowMs()
  const counts = slots.length === 1 ? [1] : await tokensOfEach(serving, pick(distinct, slots))
  const tokens = divideTokens(answer.usage.tokens, counts)
  for (const [position, slot] of slots.entries())
    arrived.set(digests[slot] as string, {
      values: valuesOf(answer.vectors[position] as Vector),
      tokens: tokens[position] as number,
      deployment: offer.deployment.id,
      madeAtMs,
    })
}

function keep({ cache, mayKeep }: Sharing, arrived: ReadonlyMap<string, CachedVector>): void {
  if (cache === undefined || !mayKeep) return
  const entries = Array.from(arrived, ([digest, vector]) => ({ digest, vector }))
  cache.store.setMany(entries, cache.ttlMs)
}

/** At the width of the answer. */
export function fromOffer(vector: Vector, { width, upstreamWidth }: Offer): Vector {
  return width === upstreamWidth ? vector : narrowed(vector, width)
}

/** The same bits where there is nothing to cut. */
function narrowed(vector: Vector, width: number): Vector {
  const values = valuesOf(vector)
  return values.length === width ? vector : { form: 'float32', values: truncate(values, width) }
}
