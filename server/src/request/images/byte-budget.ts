/** The memory for what can't be streamed, shared by all requests of a node. First come, first served. */
export class ByteBudget {
  readonly #most: number
  #free: number
  readonly #waiting: { readonly bytes: number; readonly begin: () => void }[] = []

  constructor(most: number) {
    this.#most = most
    this.#free = most
  }

  /** Undefined: the bytes were not free in time. A request for more than there are takes all, and so runs alone. */
  async take(
    bytes: number,
    withinMs: number,
    wait: (ms: number) => Promise<unknown>,
  ): Promise<Disposable | undefined> {
    const taken = Math.min(bytes, this.#most)
    if (this.#waiting.length > 0 || taken > this.#free) {
      const turn = Promise.withResolvers<boolean>()
      const place = { bytes: taken, begin: () => turn.resolve(true) }
      this.#waiting.push(place)
      void wait(withinMs).then(() => {
        const at = this.#waiting.indexOf(place)
        if (at === -1) return
        this.#waiting.splice(at, 1)
        turn.resolve(false)
        // A request that needs less may have stood behind this one.
        this.#serve()
      })
      if (!(await turn.promise)) return undefined
    } else this.#free -= taken
    let isTaken = true
    return {
      [Symbol.dispose]: () => {
        if (!isTaken) return
        isTaken = false
        this.#free += taken
        this.#serve()
      },
    }
  }

  #serve(): void {
    for (let next = this.#waiting[0]; next !== undefined && next.bytes <= this.#free;) {
      this.#waiting.shift()
      this.#free -= next.bytes
      next.begin()
      next = this.#waiting[0]
    }
  }
}
