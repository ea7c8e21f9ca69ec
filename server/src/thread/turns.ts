import { FairShare, type AwaitedHolding } from '#core/schedule/fair-share.ts'
import { ThreadBusy, type Asker } from '#ports/asker.ts'
import { inTime } from './thread.ts'

export interface TurnLimits {
  /** Concurrent work in the thread: a number of tasks, or of the amounts that `run` is given. */
  readonly atOnce: number
  /** Waiting tasks of one project: each holds a request in memory. */
  readonly maxWaiting: number
}

/**
 * Lets projects take turns at a thread. Waiting work is not in the thread yet: if the thread ends, only the
 * work in it fails, and the rest goes to the next thread.
 */
export class Turns {
  readonly #share: FairShare
  readonly #maxWaiting: number
  #isClosed = false

  constructor({ atOnce, maxWaiting }: TurnLimits) {
    this.#share = new FairShare({ capacity: atOnce, headroom: Infinity, maxWaiting })
    this.#maxWaiting = maxWaiting
  }

  /** Rejects with `ThreadBusy` when the caller's time is up. Work that has begun by then keeps its slot until it ends. */
  async run<Result>({ project, timeoutMs }: Asker, work: () => Promise<Result>, amount = 1): Promise<Result> {
    const place = this.#share.wait(project, amount)
    if (place === undefined)
      throw new ThreadBusy('full', `${this.#maxWaiting} requests of this project wait for a thread already`)
    return inTime(this.#done(place, work), timeoutMs, () => {
      place.leave()
      return new ThreadBusy('late', 'a thread was not done in time')
    })
  }

  /** Fails the waiting work. */
  close(): void {
    this.#isClosed = true
  }

  async #done<Result>(place: AwaitedHolding, work: () => Promise<Result>): Promise<Result> {
    using _ = await place.holding
    if (this.#isClosed) throw new Error('the node stops')
    return await work()
  }
}
