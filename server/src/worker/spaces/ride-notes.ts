/** Good rides of this process: the last of each deployment, and those that are not stored yet. */
import { BoundedMap } from '#core/structure/bounded-map.ts'
import { RIDE_SLOT_MS, type GoodRides } from '#ports/spaces.ts'

/** One good ride. */
export type GoodRide = Omit<GoodRides, 'slotMs' | 'lastAtMs' | 'rides'> & { readonly atMs: number }

/** Deployments whose last ride is remembered: more than one node has. */
const MAX_DEPLOYMENTS = 10_000
/** Slots that wait for the store: an hour of an outage with eighty deployments. Beyond it the oldest are dropped, as a gap in a chart. */
const MAX_WAITING = 1000

export class RideNotes {
  readonly #last = new BoundedMap<string, GoodRide>(MAX_DEPLOYMENTS)
  #waiting = new Map<string, GoodRides>()

  add(ride: GoodRide): void {
    const { atMs, ...place } = ride
    this.#last.set(nameOf(ride), ride)
    const slotMs = Math.floor(atMs / RIDE_SLOT_MS) * RIDE_SLOT_MS
    this.#add({ ...place, slotMs, lastAtMs: atMs, rides: 1 })
  }

  /** When its last good ride in this space was sent. */
  lastAtMs(place: Pick<GoodRides, 'model' | 'deployment' | 'target'>, space: string): number | undefined {
    const last = this.#last.get(nameOf(place))
    return last?.space === space ? last.atMs : undefined
  }

  /** Some are to be stored. */
  get hasAny(): boolean {
    return this.#waiting.size > 0
  }

  /** Takes those that are to be stored. */
  take(): readonly GoodRides[] {
    const taken = [...this.#waiting.values()]
    this.#waiting = new Map()
    return taken
  }

  /** They could not be stored. */
  putBack(rides: readonly GoodRides[]): void {
    for (const one of rides) this.#add(one)
  }

  #add(rides: GoodRides): void {
    const name = `${rides.slotMs} ${rides.space} ${nameOf(rides)}`
    const before = this.#waiting.get(name)
    this.#waiting.set(name, {
      ...rides,
      lastAtMs: Math.max(rides.lastAtMs, before?.lastAtMs ?? 0),
      rides: rides.rides + (before?.rides ?? 0),
      leastCosine: Math.min(rides.leastCosine, before?.leastCosine ?? 1),
    })
    const [oldest] = this.#waiting.keys()
    if (this.#waiting.size > MAX_WAITING && oldest !== undefined) this.#waiting.delete(oldest)
  }
}

function nameOf({ model, deployment, target }: Pick<GoodRides, 'model' | 'deployment' | 'target'>): string {
  return JSON.stringify([model, deployment, target])
}
