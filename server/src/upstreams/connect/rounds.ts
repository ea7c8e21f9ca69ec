/** Bytes of all upstreams per round: a hundred of them together would hold the loop as long as one with all their bytes. */
const ALL_BYTES_PER_ROUND = 1024 * 1024
/** Paused answers resumed per round, each with a chunk of 64 KB. */
const RESUMED_PER_ROUND = 8

/** A source of bytes that can be paused. */
export interface Flow {
  pause(): void
  resume(): void
}

/** Shares the rounds of the event loop among all arriving answers. */
export class Rounds {
  #bytes = 0
  #isCounting = false
  readonly #waiting: Flow[] = []

  /** Whether these bytes exceed the round's limit. */
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
