/**
 * A fixed amount of something that all projects of a node use together: bytes of memory, threads, places for jobs. One
 * project must not be able to take it from the others, so two rules hold:
 *
 * - What is held for long leaves room for newcomers: a project may hold at most `headroom` times what stays free. Alone it
 *   gets headroom / (headroom + 1) of all. The more projects ask, the smaller each share, and something is always free.
 *   A project that holds nothing may always take what is free, so that one large piece is possible.
 * - Projects that wait are served in turn, one piece each. A piece that does not fit yet keeps its turn, so that small
 *   pieces do not starve it. A project that waits because of its own share holds up nobody else.
 */
export interface FairShareLimits {
  readonly capacity: number
  /** Infinity for what is held so briefly that taking turns is enough. */
  readonly headroom: number
  /** Pieces of one project that wait: each holds a request in memory. */
  readonly maxWaiting: number
}

/** A piece that is held until it is disposed of; a second disposal changes nothing. */
export type Holding = Disposable

/** A piece that may have to be waited for. */
export interface AwaitedHolding {
  readonly holding: Promise<Holding>
  /** Gives the place up. False: the piece is held already, and its holder must dispose of it. */
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
  /** Projects that wait, in the order of their turns. */
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

  /** A piece, if there is one for this project at this moment. More than there is at all counts as all there is. */
  take(project: string, amount: number): Holding | undefined {
    const piece = Math.min(amount, this.#limits.capacity)
    if (piece > 0 && (this.#turns.size > 0 || !this.#fits(project, piece))) return undefined
    return this.#hold(project, piece)
  }

  /** A piece as soon as it is this project's turn. Undefined: too many pieces of this project wait already. */
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
        // A smaller piece may have stood behind it.
        this.#serve()
        return true
      },
    }
  }

  /** A piece, if it is this project's turn before `late` is over. Nobody asks for `late` if there is one at once. */
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

  /** One piece for each project that waits, then another round, until nothing more fits. */
  #serve(): void {
    for (let isServing = true; isServing;) {
      isServing = false
      for (const project of this.#turns) {
        const own = this.#projectOf(project)
        const [place] = own.waiting
        if (place === undefined || !this.#isWithinShare(project, place.amount)) continue
        // Its turn, but there is not enough yet: what is free is kept for it.
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

  /** A name that nobody uses any more takes no memory. */
  #forget(name: string): void {
    const project = this.#projects.get(name)
    if (project?.waiting.size !== 0) return
    this.#turns.delete(name)
    if (project.held === 0) this.#projects.delete(name)
  }
}
