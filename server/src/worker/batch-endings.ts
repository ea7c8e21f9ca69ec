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
  /** A step failed; it is repeated. */
  readonly onTrouble: (error: unknown) => void
}

/** Time after which a deployment is probed again for a batch, doubled each time up to the longest. */
const AGAIN_MS = 2000
const LONGEST_MS = 60_000
/** Interval of looks while batches wait for others than those probed now: each is read whole. */
const QUIET_MS = 5000

interface Failed {
  readonly times: number
  readonly notBeforeMs: number
}

export class BatchEndings {
  readonly #parts: BatchEndingParts
  /** Good probes that were sent after all chunks of a batch were done, by batch. */
  readonly #confirmed = new Map<string, ConfirmedBatch>()
  /** Probes in progress, by deployment. */
  readonly #asking = new Map<string, Promise<void>>()
  /** Deployments that were not found good when they were last asked. */
  readonly #failed = new Map<string, Failed>()
  #looking: Promise<void> | undefined
  #isWanted = false
  #isStopped = false
  #quietUntilMs = -Infinity

  constructor(parts: BatchEndingParts) {
    this.#parts = parts
  }

  /** One look at a time. What is done during one is seen by the next. `hasNews`: a chunk has just ended here. */
  look(hasNews = false): Promise<void> {
    if (!hasNews && this.#parts.monotonicMs() < this.#quietUntilMs) return Promise.resolve()
    this.#isWanted = true
    this.#looking ??= this.#lookAll()
    return this.#looking
  }

  /** Waits for the probes in progress. Their batches are another node's. */
  async stop(): Promise<void> {
    this.#isStopped = true
    await Promise.allSettled([this.#looking, ...this.#asking.values()])
  }

  async #lookAll(): Promise<void> {
    try {
      while (this.#isWanted && !this.#isStopped) {
        this.#isWanted = false
        if (await this.#parts.isEnder()) await this.#lookOnce()
      }
    } finally {
      // In the turn in which nothing is wanted: what is wanted from here on begins another one.
      this.#looking = undefined
    }
  }

  async #lookOnce(): Promise<void> {
    const nowMs = this.#parts.monotonicMs()
    const waiting = await this.#parts.batches.endDone(this.#confirmed)
    this.#quietUntilMs = waiting.length === 0 ? -Infinity : nowMs + QUIET_MS
    this.#forgetOthers(waiting)
    for (const [deployment, largest] of largestCalls(waiting)) {
      const isPaused = nowMs < (this.#failed.get(deployment)?.notBeforeMs ?? -Infinity)
      if (isPaused || this.#asking.has(deployment)) continue
      const asking = this.#ask(deployment, largest, waiting).finally(() => this.#asking.delete(deployment))
      // It may have been found outside: then its lines run again.
      const looking = asking.then(() => this.look(true)).catch(this.#parts.onTrouble)
      this.#asking.set(deployment, looking)
    }
  }

  #forgetOthers(waiting: readonly UnconfirmedBatch[]): void {
    const chunks = new Map(waiting.map((batch) => [batch.id, batch.chunks]))
    for (const [id, known] of this.#confirmed) if (chunks.get(id) !== known.chunks) this.#confirmed.delete(id)
    const made = new Set(waiting.flatMap((batch) => batch.made.map(({ deployment }) => deployment)))
    for (const deployment of this.#failed.keys()) if (!made.has(deployment)) this.#failed.delete(deployment)
  }

  /** One that does not answer holds up no batch of others. */
  async #ask(
    deployment: string,
    largest: CallSize | undefined,
    waiting: readonly UnconfirmedBatch[],
  ): Promise<void> {
    const { batches, confirm, monotonicMs } = this.#parts
    const own = waiting.filter(({ made }) => made.some((one) => one.deployment === deployment))
    if (await confirm(deployment, largest)) {
      this.#failed.delete(deployment)
      for (const { id, chunks } of own) {
        const { chunks: since = 0, deployments = [] } = this.#confirmed.get(id) ?? {}
        // What has run again since was made after this probe.
        if (since > chunks) continue
        const before = since === chunks ? deployments : []
        this.#confirmed.set(id, { chunks, deployments: new Set([...before, deployment]) })
      }
    } else {
      const { times = 0 } = this.#failed.get(deployment) ?? {}
      const pauseMs = Math.min(LONGEST_MS, AGAIN_MS * 2 ** times)
      this.#failed.set(deployment, { times: times + 1, notBeforeMs: monotonicMs() + pauseMs })
      for (const { id } of own) await batches.pause(id, 'space_unprobed', pauseMs)
    }
  }
}

/** Each deployment once, so that two batches share a probe. */
function largestCalls(waiting: readonly UnconfirmedBatch[]): readonly [string, CallSize | undefined][] {
  const sizes = new Map<string, CallSize | undefined>()
  for (const { deployment, largest } of waiting.flatMap(({ made }) => made)) {
    const most = sizes.get(deployment)
    sizes.set(deployment, most && largest ? largerSize(most, largest) : (largest ?? most))
  }
  return [...sizes]
}
