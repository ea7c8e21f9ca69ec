/**
 * Ends batches whose chunks are all done: their vectors are final after a good probe of each deployment that made some. One node asks
 * for the probes of all batches, so that two batches share one.
 */
import { largerSize, type CallSize } from '#core/embedding/call-size.ts'
import type { Batches, ConfirmedBatch, UnconfirmedBatch } from '#ports/batches.ts'

export interface BatchEndingParts {
  readonly batches: Pick<Batches, 'endDone' | 'pause'>
  /** Whether this node ends batches for all. */
  readonly isEnder: () => Promise<boolean>
  /** Probes a deployment now, in calls of this size. False: it was not found good. */
  readonly confirm: (deployment: string, largest: CallSize | undefined) => Promise<boolean>
  readonly monotonicMs: () => number
}

/** Time after which a deployment is probed again for a batch, doubled each time up to the longest. */
const AGAIN_MS = 2000
const LONGEST_MS = 60_000

interface Failed {
  readonly times: number
  readonly notBeforeMs: number
}

export class BatchEndings {
  readonly #parts: BatchEndingParts
  /** Deployments that were not found good when they were last asked. */
  readonly #failed = new Map<string, Failed>()
  /** While nothing but failed deployments is waited for, on the monotonic clock: a batch that waits is read whole. */
  #notBeforeMs = -Infinity
  #looking: Promise<void> | undefined
  #isWanted = false

  constructor(parts: BatchEndingParts) {
    this.#parts = parts
  }

  /** One look at a time. What is done during one is seen by the next. `hasNews`: a chunk has just ended here. */
  look(hasNews = false): Promise<void> {
    if (!hasNews && this.#parts.monotonicMs() < this.#notBeforeMs) return Promise.resolve()
    this.#isWanted = true
    this.#looking ??= this.#lookAll().finally(() => (this.#looking = undefined))
    return this.#looking
  }

  async #lookAll(): Promise<void> {
    while (this.#isWanted) {
      this.#isWanted = false
      await this.#lookOnce()
    }
  }

  async #lookOnce(): Promise<void> {
    const { batches, isEnder } = this.#parts
    if (!(await isEnder())) return
    const waiting = await batches.endDone()
    const names = new Set(waiting.flatMap(({ made }) => made.map(({ deployment }) => deployment)))
    for (const name of this.#failed.keys()) if (!names.has(name)) this.#failed.delete(name)
    this.#notBeforeMs = -Infinity
    if (waiting.length === 0) return
    const good = await this.#probe(waiting)
    const confirmed = new Map(
      waiting.map(({ id, chunks }): [string, ConfirmedBatch] => [id, { chunks, deployments: good }]),
    )
    for (const { id } of await batches.endDone(confirmed)) await batches.pause(id, 'space_unprobed', AGAIN_MS)
  }

  /** The deployments that are good, each asked once for all batches. */
  async #probe(waiting: readonly UnconfirmedBatch[]): Promise<ReadonlySet<string>> {
    const sizes = new Map<string, CallSize | undefined>()
    for (const { deployment, largest } of waiting.flatMap(({ made }) => made)) {
      const most = sizes.get(deployment)
      sizes.set(deployment, most && largest ? largerSize(most, largest) : (largest ?? most))
    }
    const good = new Set<string>()
    await Promise.all(
      [...sizes].map(async ([deployment, largest]) => {
        const { times = 0, notBeforeMs = -Infinity } = this.#failed.get(deployment) ?? {}
        if (this.#parts.monotonicMs() < notBeforeMs) return
        if (await this.#parts.confirm(deployment, largest)) {
          good.add(deployment)
          this.#failed.delete(deployment)
        } else {
          const pauseMs = Math.min(LONGEST_MS, AGAIN_MS * 2 ** times)
          const failed = { times: times + 1, notBeforeMs: this.#parts.monotonicMs() + pauseMs }
          this.#failed.set(deployment, failed)
        }
      }),
    )
    return good
  }
}
