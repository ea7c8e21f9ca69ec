/**
 * A fixed amount of a resource that all projects of a node share: bytes of memory, threads, slots for jobs. One project
 * must not take it from the others, so two rules hold:
 *
 * - Long holdings leave something for newcomers: a project may hold at most `headroom` times what stays free. Alone it gets
 * headroom / (headroom + 1) of all. The more projects ask, the smaller each share, and something is always free. A project
 * that holds nothing may always take what is free, so that one large holding is possible.
 * - Waiting projects are served in turn, one holding each. A holding that does not fit yet keeps its turn, so that small
 * ones do not starve it. A project that waits because of its own share holds up no other project.
 */
export interface FairShareLimits {
  readonly capacity: number
  /** Infinity for short holdings, for which taking turns is enough. */
  readonly headroom: number
  /** Queue limit per project: each waiter holds a request in memory. */
  readonly maxWaiting: number
}

/** An amount held until it is disposed of; a second disposal changes nothing. */
export type Holding = Disposable

/** A holding that may have to wait. */
export interface AwaitedHolding {
  readonly holding: Promise<Holding>
  /** Leaves the queue. False when the amount is held already, and its holder must dispose of it. */
  leave(): boolean
}

interface Place {
  readonly amount: number
  readonly begin: (holding: Holding) => void
}

interface Project {
  held: number
  readonly waiting: Set<Place>
}

export class FairShare {
  readonly #limits: FairShareLimits
  #free: number
  readonly #projects = new Map<string, Project>()
  /** Waiting projects, in the order of their turns. */
  readonly #turns = new Set<string>()

  constructor(limits: FairShareLimits) {
    this.#limits = limits
    this.#free = limits.capacity
  }

  get free(): number {
    return this.#free
  }

  heldBy(project: string): number {
    return this.#projects.get(project)?.held ?? 0
  }

  /** A holding, if the project can have it at this moment. More than the total counts as the total. */
  take(project: string, amount: number): Holding | undefined {
    const piece = Math.min(amount, this.#limits.capacity)
    if (piece > 0 && (this.#turns.size > 0 || !this.#fits(project, piece))) return undefined
    return this.#hold(project, piece)
  }

  /** A holding as soon as it is this project's turn. Undefined when the project's queue is full. */
  wait(project: string, amount: number): AwaitedHolding | undefined {
    const holding = this.take(project, amount)
    if (holding) return { holding: Promise.resolve(holding), leave: () => false }
    const own = this.#projectOf(project)
    if (own.waiting.size >= this.#limits.maxWaiting) return undefined
    const { promise, resolve } = Promise.withResolvers<Holding>()
    const place: Place = { amount: Math.min(amount, this.#limits.capacity), begin: resolve }
    own.waiting.add(place)
    this.#turns.add(project)
    // It may fit at once: the projects ahead of it may wait because of their own shares.
    this.#serve()
    return {
      holding: promise,
      leave: () => {
        if (!own.waiting.delete(place)) return false
        this.#forget(project)
        // A smaller holding may have waited behind it.
        this.#serve()
        return true
      },
    }
  }

  /** A holding, if it is this project's turn before `late` settles. `late` is not called if there is one at once. */
  async takeBefore(
    project: string,
    amount: number,
    late: () => Promise<unknown>,
  ): Promise<Holding | undefined> {
    const holding = this.take(project, amount)
    if (holding) return holding
    const awaited = this.wait(project, amount)
    if (awaited === undefined) return undefined
    return Promise.race([awaited.holding, late().then(() => (awaited.leave() ? undefined : awaited.holding))])
  }

  #fits(project: string, amount: number): boolean {
    return amount <= this.#free && this.#isWithinShare(project, amount)
  }

  #isWithinShare(project: string, amount: number): boolean {
    const { headroom } = this.#limits
    const held = this.heldBy(project)
    return held === 0 || headroom === Infinity || held + amount <= (this.#free - amount) * headroom
  }

  #hold(project: string, amount: number): Holding {
    const own = this.#projectOf(project)
    own.held += amount
    this.#free -= amount
    let isHeld = true
    return {
      [Symbol.dispose]: () => {
        if (!isHeld) return
        isHeld = false
        own.held -= amount
        this.#free += amount
        this.#forget(project)
        this.#serve()
      },
    }
  }

  /** One holding for each waiting project, then another round, until nothing more fits. */
  #serve(): void {
    for (let isServing = true; isServing;) {
      isServing = false
      for (const project of this.#turns) {
        const own = this.#projectOf(project)
        const [place] = own.waiting
        if (place === undefined || !this.#isWithinShare(project, place.amount)) continue
        // Its turn, but there is not enough yet: the free amount is kept for it.
        if (place.amount > this.#free) return
        own.waiting.delete(place)
        this.#turns.delete(project)
        if (own.waiting.size > 0) this.#turns.add(project)
        place.begin(this.#hold(project, place.amount))
        isServing = true
        break
      }
    }
  }

  #projectOf(name: string): Project {
    let project = this.#projects.get(name)
    if (project === undefined) {
      project = { held: 0, waiting: new Set() }
      this.#projects.set(name, project)
    }
    return project
  }

  /** An unused name takes no memory. */
  #forget(name: string): void {
    const project = this.#projects.get(name)
    if (project?.waiting.size !== 0) return
    this.#turns.delete(name)
    if (project.held === 0) this.#projects.delete(name)
  }
}
