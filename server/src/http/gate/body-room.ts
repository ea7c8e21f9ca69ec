/**
 * A node's memory for arriving bodies, of which each project gets a fair share. Bytes take room as they are received, not as they are
 * announced: an announcement costs its sender nothing.
 */
import { FairShare, type Holding } from '#core/schedule/fair-share.ts'
import type { Limits } from '#core/settings.ts'
import { largestEmbeddings } from './bounds.ts'

/** A project gets at most three times what stays free: three quarters of all when it is alone. */
const HEADROOM = 3
/** Bodies of one project in the queue for room. Each has up to 128 KB in the buffers of its connection: 64 MB in all. */
const MAX_WAITING = 512
/** Time after which bodies that wait for one another are stuck. From then on one at a time gets the reserve. */
const STANDSTILL_MS = 1000
/** Interval of the check of all bodies' pace. One timer serves all, since nearly every body arrives at once. */
const LOOK_MS = 1000

export interface WatchedBody {
  /** `passedMs`: time since the last check. */
  look(passedMs: number): void
}

/** Room given to a body from the queue. */
interface GrantedRoom {
  readonly holding: Holding
  /** The room comes from the reserve, which others need: the body must arrive within the idle time. */
  readonly isReserve: boolean
}

export interface AwaitedRoom {
  /** Undefined if there was no room in time. */
  readonly granted: Promise<GrantedRoom | undefined>
  /** Takes the body out of the queue. */
  leave(): void
}

export type BodyLimits = Pick<
  Limits,
  | 'bodyBytes'
  | 'embeddingsBodyBytes'
  | 'contentsBodyBytes'
  | 'imagesBodyBytes'
  | 'editsJsonBytes'
  | 'uploadIdleMs'
>

export class BodyRoom {
  readonly idleMs: number
  readonly #capacity: number
  readonly #common: FairShare
  /** Room besides the common room, for one largest body: what a project's bodies lack when each waits for the others. */
  readonly #reserve: FairShare
  readonly #watched = new Set<WatchedBody>()
  #looking: NodeJS.Timeout | undefined

  constructor(limits: BodyLimits) {
    const { bodyBytes, imagesBodyBytes, editsJsonBytes, uploadIdleMs } = limits
    this.idleMs = uploadIdleMs
    this.#capacity = bodyBytes
    this.#common = new FairShare({ capacity: bodyBytes, headroom: HEADROOM, maxWaiting: MAX_WAITING })
    const largest = Math.max(largestEmbeddings(limits), imagesBodyBytes, editsJsonBytes)
    this.#reserve = new FairShare({ capacity: largest, headroom: Infinity, maxWaiting: MAX_WAITING })
  }

  /** Bytes of all projects, for messages and metrics. */
  get held(): number {
    return this.#capacity - this.#common.free
  }

  get capacity(): number {
    return this.#capacity
  }

  heldBy(project: string): number {
    return this.#common.heldBy(project)
  }

  take(project: string, bytes: number): Holding | undefined {
    return this.#common.take(project, bytes)
  }

  /**
   * `isWhole`: `bytes` is all that the body still needs. Only such a body may get the reserve, since it never waits for more while it
   * holds it. Undefined if too many bodies of this project wait already.
   */
  wait(project: string, bytes: number, isWhole: boolean): AwaitedRoom | undefined {
    const common = this.#common.wait(project, bytes)
    if (common === undefined) return undefined
    const asked = [common]
    const { promise, resolve } = Promise.withResolvers<GrantedRoom | undefined>()
    const settle = (granted: GrantedRoom | undefined): void => {
      clearTimeout(standstill)
      clearTimeout(late)
      resolve(granted)
      for (const place of asked.splice(0))
        if (!place.leave())
          void place.holding.then((held) => held !== granted?.holding && held[Symbol.dispose]())
    }
    const late = setTimeout(settle, this.idleMs, undefined)
    const standstill = setTimeout(
      () => {
        const reserve = isWhole ? this.#reserve.wait(project, bytes) : undefined
        if (reserve === undefined) return
        asked.push(reserve)
        void reserve.holding.then((holding) => settle({ holding, isReserve: true }))
      },
      Math.min(STANDSTILL_MS, this.idleMs / 2),
    )
    void common.holding.then((holding) => settle({ holding, isReserve: false }))
    return { granted: promise, leave: () => settle(undefined) }
  }

  watch(body: WatchedBody): void {
    this.#watched.add(body)
    if (this.#looking === undefined) this.#beginLooking()
  }

  forget(body: WatchedBody): void {
    this.#watched.delete(body)
  }

  #beginLooking(): void {
    const everyMs = Math.min(LOOK_MS, this.idleMs / 4)
    let lastMs = performance.now()
    this.#looking = setInterval(() => {
      const nowMs = performance.now()
      // While the node itself stalled, the sent bytes waited in the system.
      const passedMs = Math.min(nowMs - lastMs, 2 * everyMs)
      lastMs = nowMs
      for (const body of this.#watched) body.look(passedMs)
      if (this.#watched.size > 0) return
      clearInterval(this.#looking)
      this.#looking = undefined
    }, everyMs).unref()
  }
}
