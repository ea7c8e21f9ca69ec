/**
 * How long a deployment's calls usually take. Long inputs are slower than short ones and ten pictures slower than one, so
 * calls are compared with calls of their own size: sizes are told apart by powers of four, each with its own usual time.
 */

/** Anything up to so many tokens takes about as long: the way there and back dominates. */
const SMALL_TOKENS = 64
/** 64 × 4^8 tokens, four million: more than any upstream takes in one call. */
const MAX_CLASS = 8

/** Which size a call is of, by what it asks for. */
export function sizeClass(tokens: number, images: number): number {
  const work = images > 0 ? images : tokens / SMALL_TOKENS
  return work <= 1 ? 0 : Math.min(MAX_CLASS, Math.ceil(Math.log2(work) / 2))
}

/** The weight of one call once a size is well known: some twenty calls to forget what was. */
const GAIN = 0.05
const PACE_GAIN = 0.1
/** One call out of all proportion counts as if it had been e times the usual. */
const MAX_LOG_STEP = 1
/** Or it would get no calls, and with them no chance to prove otherwise. */
const MAX_RATIO = 4
/** What is known of a deployment that nobody calls fades, so that it gets a trial call now and then. */
const IDLE_MS = 2000
const IDLE_MEMORY_MS = 2000

export class Latency {
  /** By size: the usual time while the deployment has room to spare, and how many calls told so. */
  readonly #usualMs: (number | undefined)[] = []
  readonly #counts: number[] = []
  /** By how much calls of late were slower than usual. */
  #pace = 1
  #endedAtMs = 0

  /** How a call compares with the usual of its size, 1 being just that. The first call of a size is the usual. */
  ratio(size: number, durationMs: number): number {
    const known = this.#usualMs[size]
    if (known !== undefined) return durationMs / known
    this.#usualMs[size] = Math.max(MIN_MS, durationMs / this.#pace)
    this.#counts[size] = 1
    return this.#pace
  }

  /** A call that ended. One that was sent while the deployment was busy says nothing about what is usual. */
  learn(size: number, durationMs: number, wasBusy: boolean, nowMs: number): number {
    const ratio = this.ratio(size, durationMs)
    // The first call after a while tells more than all before it.
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

  /** What is usual has changed for all sizes alike. */
  rescale(factor: number): void {
    for (const [size, usual] of this.#usualMs.entries())
      if (usual !== undefined) this.#usualMs[size] = Math.max(MIN_MS, usual * factor)
    this.#pace /= factor
  }

  /**
   * The usual time of a size. One never seen is at most as slow as the next larger one, and at most as much slower than the
   * next smaller one as it is larger. Undefined: nothing is known.
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

  /** What a call sent now may take on its own; less and less, the longer nobody tried. */
  expectedMs(size: number, nowMs: number): number | undefined {
    const usual = this.usualMs(size)
    if (usual === undefined) return undefined
    const idleMs = Math.max(0, nowMs - this.#endedAtMs - usual - IDLE_MS)
    return usual * this.#pace * Math.exp(-idleMs / IDLE_MEMORY_MS)
  }
}

/** No call takes no time: ratios stay finite. */
const MIN_MS = 0.05
