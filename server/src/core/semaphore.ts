/** Lets at most so many pieces of work run at once. The others wait in line: first come, first served. */
export class Semaphore {
  #free: number
  readonly #line: PromiseWithResolvers<void>[] = []

  constructor(places: number) {
    this.#free = places
  }

  /** How many pieces of work wait for a place. A caller that wants a shorter line looks here before it joins. */
  get waiting(): number {
    return this.#line.length
  }

  async run<Result>(work: () => Promise<Result>): Promise<Result> {
    if (this.#free > 0) this.#free -= 1
    else {
      const place = Promise.withResolvers<void>()
      this.#line.push(place)
      await place.promise
    }
    try {
      return await work()
    } finally {
      // The next in line gets the place itself: a free place could be taken before the next one has heard of it.
      const next = this.#line.shift()
      if (next === undefined) this.#free += 1
      else next.resolve()
    }
  }

  /** Everybody in line gets this error instead of a place. What runs goes on. */
  refuseWaiting(error: unknown): void {
    for (const { reject } of this.#line.splice(0)) reject(error)
  }
}
