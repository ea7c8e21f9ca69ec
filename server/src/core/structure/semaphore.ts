/** Bounds parallel work. The rest waits in a queue: first come, first served. */
export class Semaphore {
  #free: number
  readonly #line: PromiseWithResolvers<void>[] = []

  constructor(places: number) {
    this.#free = places
  }

  /** Length of the queue. A caller that wants a shorter one checks it before joining. */
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
      // The next in the queue gets the slot directly: a free slot could be taken before it is notified.
      const next = this.#line.shift()
      if (next === undefined) this.#free += 1
      else next.resolve()
    }
  }

  /** All waiters get this error instead of a slot. Running work goes on. */
  refuseWaiting(error: unknown): void {
    for (const { reject } of this.#line.splice(0)) reject(error)
  }
}
