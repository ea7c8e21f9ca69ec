/** Of all upstreams together: a hundred of them at once would hold the loop as long as one with all their bytes. */
const ALL_BYTES_PER_ROUND = 1024 * 1024
/** Those that had to wait read on a few at a time, each with a chunk of 64 KB. */
const RESUMED_PER_ROUND = 8

/** Where bytes come from, or go through. */
export interface Flow {
  pause(): void
  resume(): void
}

/** Shares out the rounds of the event loop among all answers that arrive. */
export class Rounds {
  #bytes = 0
  #isCounting = false
  readonly #waiting: Flow[] = []

  /** Whether a round takes too many bytes with these. */
  isFull(bytes: number): boolean {
    this.#bytes += bytes
    this.#count()
    return this.#bytes > ALL_BYTES_PER_ROUND
  }

  resumeLater(flow: Flow): void {
    flow.pause()
    this.#waiting.push(flow)
    this.#count()
  }

  #count(): void {
    if (this.#isCounting) return
    this.#isCounting = true
    setImmediate(() => {
      this.#isCounting = false
      this.#bytes = 0
      for (const flow of this.#waiting.splice(0, RESUMED_PER_ROUND)) flow.resume()
      if (this.#waiting.length > 0) this.#count()
    })
  }
}
