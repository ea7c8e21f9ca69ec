/**
 * The usual duration of a deployment's calls. Long inputs are slower than short ones and ten images slower than one, so
 * calls are compared with calls of their own size: sizes are classes by powers of four, each with its own usual duration.
 */

/** Size up to which calls take about the same time: the network dominates. */
const SMALL_TOKENS = 64
/** Largest class: 64 × 4^8 tokens, four million, more than any upstream takes in one call. */
const MAX_CLASS = 8

/** The size class of a call. */
export function sizeClass(tokens: number, images: number): number {
  const work = images > 0 ? images : tokens / SMALL_TOKENS
  return work <= 1 ? 0 : Math.min(MAX_CLASS, Math.ceil(Math.log2(work) / 2))
}

/** Weight of one call once a size is well known: some twenty calls replace the earlier average. */
const GAIN = 0.05
const PACE_GAIN = 0.1
/** Bound of one measurement: an extreme call counts as e times the usual. */
const MAX_LOG_STEP = 1
/** Bound of the pace: a slower deployment would get no calls, and no chance to improve. */
const MAX_RATIO = 4
/** The measurements of an idle deployment fade, so that it gets an occasional trial call. */
const IDLE_MS = 2000
const IDLE_MEMORY_MS = 2000

export class Latency {
  /** By size: the usual duration while the deployment is not busy, and the number of calls behind it. */
  readonly #usualMs: (number | undefined)[] = []
  readonly #counts: number[] = []
  /** The slowdown of recent calls relative to the usual. */
  #pace = 1
  #endedAtMs = 0

  /** A call relative to the usual duration of its size. The first call of a size is the usual. */
  ratio(size: number, durationMs: number): number {
    const known = this.#usualMs[size]
    if (known !== undefined) return durationMs / known
    this.#usualMs[size] = Math.max(MIN_MS, durationMs / this.#pace)
    this.#counts[size] = 1
    return this.#pace
  }

  /** A call that ended. A call that was sent while the deployment was busy says nothing about the usual duration. */
  learn(size: number, durationMs: number, wasBusy: boolean, nowMs: number): number {
    const ratio = this.ratio(size, durationMs)
    // The first call after a pause says more than all before it.
    const news = 1 - Math.exp(-Math.max(0, nowMs - this.#endedAtMs) / IDLE_MEMORY_MS)
    this.#pace += (Math.min(ratio, MAX_RATIO) - this.#pace) * Math.max(PACE_GAIN, news)
    this.#endedAtMs = nowMs
    if (wasBusy) return ratio
    const count = (this.#counts[size] ?? 0) + 1
    this.#counts[size] = count
    const step = Math.min(MAX_LOG_STEP, Math.max(-MAX_LOG_STEP, Math.log(Math.max(ratio, 1e-3))))
    const usual = (this.#usualMs[size] ?? durationMs) * Math.exp(step * Math.max(GAIN, 1 / count, news))
    this.#usualMs[size] = Math.max(MIN_MS, usual)
    return ratio
  }

  /** The usual duration has changed for all sizes alike. */
  rescale(factor: number): void {
    for (const [size, usual] of this.#usualMs.entries())
      if (usual !== undefined) this.#usualMs[size] = Math.max(MIN_MS, usual * factor)
    this.#pace /= factor
  }

  /**
   * The usual duration of a size. An unseen size is at most as slow as the next larger one, and its ratio to the next
   * smaller one is at most the ratio of the sizes. Undefined: nothing is known.
   */
  usualMs(size: number): number | undefined {
    for (let larger = size; larger < this.#usualMs.length; larger += 1)
      if (this.#usualMs[larger] !== undefined) return this.#usualMs[larger]
    for (let smaller = Math.min(size, this.#usualMs.length) - 1; smaller >= 0; smaller -= 1) {
      const usual = this.#usualMs[smaller]
      if (usual !== undefined) return usual * 4 ** (size - smaller)
    }
    return undefined
  }

  /** The expected duration of a call sent now; lower and lower, the longer none was sent. */
  expectedMs(size: number, nowMs: number): number | undefined {
    const usual = this.usualMs(size)
    if (usual === undefined) return undefined
    const idleMs = Math.max(0, nowMs - this.#endedAtMs - usual - IDLE_MS)
    return usual * this.#pace * Math.exp(-idleMs / IDLE_MEMORY_MS)
  }
}

/** No call takes no time: ratios stay finite. */
const MIN_MS = 0.05
