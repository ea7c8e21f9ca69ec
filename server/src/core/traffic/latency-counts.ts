/**
 * Durations as counts in classes of growing width: cheap to add to, and the counts of several nodes and times can be
 * summed. A quantile is accurate within a twentieth.
 */

/** Start of the second class. */
const FIRST_MS = 0.1
const GROWTH = 1.1
const LOG_GROWTH = Math.log(GROWTH)
/** The last class begins at 13 minutes: longer than anything that we wait for. */
const CLASSES = 167

/** The classes that are not empty, and their counts: the form that is stored and sent. */
export interface SparseCounts {
  readonly classes: readonly number[]
  readonly counts: readonly number[]
}

export const NO_COUNTS: SparseCounts = { classes: [], counts: [] }

export class LatencyCounts {
  readonly #counts = new Uint32Array(CLASSES)
  #total = 0

  get total(): number {
    return this.#total
  }

  add(durationMs: number): void {
    this.addIn(latencyClassOf(durationMs))
  }

  /** For durations that are counted in several places: the class is found once. */
  addIn(index: number): void {
    this.#counts[index] = (this.#counts[index] as number) + 1
    this.#total += 1
  }

  addAll({ classes, counts }: SparseCounts): void {
    for (const [at, index] of classes.entries()) {
      const more = counts[at]
      if (more === undefined || index < 0 || index >= CLASSES) continue
      this.#counts[index] = (this.#counts[index] as number) + more
      this.#total += more
    }
  }

  /** The time within which this share of all were done. Undefined: nothing was counted. */
  quantile(share: number): number | undefined {
    if (this.#total === 0) return undefined
    let left = Math.max(1, Math.ceil(share * this.#total))
    for (let index = 0; index < CLASSES; index += 1) {
      const count = this.#counts[index] as number
      if (left <= count) return middleOf(index)
      left -= count
    }
    return middleOf(CLASSES - 1)
  }

  sparse(): SparseCounts {
    const classes: number[] = []
    const counts: number[] = []
    for (let index = 0; index < CLASSES; index += 1) {
      const count = this.#counts[index] as number
      if (count === 0) continue
      classes.push(index)
      counts.push(count)
    }
    return { classes, counts }
  }

  clear(): void {
    if (this.#total === 0) return
    this.#counts.fill(0)
    this.#total = 0
  }
}

export function quantileOf(all: readonly SparseCounts[], share: number): number | undefined {
  const sum = new LatencyCounts()
  for (const counts of all) sum.addAll(counts)
  return sum.quantile(share)
}

/** The class that a duration belongs to. */
export function latencyClassOf(durationMs: number): number {
  if (!(durationMs > FIRST_MS)) return 0
  return Math.min(CLASSES - 1, Math.ceil(Math.log(durationMs / FIRST_MS) / LOG_GROWTH))
}

/** The geometric middle, rounded to readable figures. */
function middleOf(index: number): number {
  const ms = index === 0 ? FIRST_MS / 2 : FIRST_MS * GROWTH ** (index - 0.5)
  return ms < 10 ? Math.round(ms * 100) / 100 : Math.round(ms * 10) / 10
}
