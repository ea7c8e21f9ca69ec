import { FairShare, type AwaitedHolding } from '#core/fair-share.ts'
import { ThreadBusy, type Asker } from '#ports/asker.ts'
import { inTime } from './thread.ts'

export interface TurnLimits {
  /** What may be in the thread at once: pieces of work, or whatever `run` is given as their amount. */
  readonly atOnce: number
  /** Pieces of work of one project that wait: each holds a request in memory. */
  readonly maxWaiting: number
}

/**
 * Lets projects take turns at a thread. Work that waits is not in the thread yet: should the thread end, only what was in it
 * fails, and the rest goes to the next thread.
 */
export class Turns {
  readonly #share: FairShare
  readonly #maxWaiting: number
  #isClosed = false

  constructor({ atOnce, maxWaiting }: TurnLimits) {
    this.#share = new FairShare({ capacity: atOnce, headroom: Infinity, maxWaiting })
    this.#maxWaiting = maxWaiting
  }

  /** Rejects with `ThreadBusy` when the caller's time is up. Work that has begun by then keeps its place until it ends. */
  async run<Result>({ project, timeoutMs }: Asker, work: () => Promise<Result>, amount = 1): Promise<Result> {
    const place = this.#share.wait(project, amount)
    if (place === undefined)
      throw new ThreadBusy('full', `${this.#maxWaiting} requests of this project wait for a thread already`)
    return inTime(this.#done(place, work), timeoutMs, () => {
      place.leave()
      return new ThreadBusy('late', 'a thread was not done in time')
    })
  }

  /** What waits fails. */
  close(): void {
    this.#isClosed = true
  }

  async #done<Result>(place: AwaitedHolding, work: () => Promise<Result>): Promise<Result> {
    using _ = await place.holding
    if (this.#isClosed) throw new Error('the node stops')
    return await work()
  }
}
