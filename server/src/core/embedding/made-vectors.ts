/** The deployments that made vectors, and when: a deployment may later be found outside its model's space. */
import { largerSize, type CallSize } from './call-size.ts'

export interface MadeVectors {
  /** The space that they were made for. */
  readonly space: string
  /**
   * A field of the request may have changed them in an unknown way: they are guarded like those of the space, but do not
   * carry its name.
   */
  readonly isUnnamed?: true | undefined
  readonly deployment: string
  /** Unix milliseconds from the first request for them to the last answer. */
  readonly fromMs: number
  readonly untilMs: number
  /** The largest of its calls: a probe of that size confirms them. Absent: they had no texts, or it is not known. */
  readonly largest?: CallSize | undefined
}

/** Largest difference between nodes' clocks: what was made shortly before a good check may have been made after it. */
export const CLOCK_SKEW_MS = 5000

/** The names of the spaces of vectors, without those that have none. */
export function spaceNames(made: readonly MadeVectors[]): readonly string[] {
  return [...new Set(made.map(({ space, isUnnamed }) => (isUnnamed ? '' : space)))].sort()
}

/** Collects the makers of many vectors: per space, one span of time for each deployment. */
export class Makers {
  readonly #made = new Map<string, MadeVectors>()

  add({ space, isUnnamed, deployment, fromMs, untilMs, largest }: MadeVectors): void {
    const name = `${space}\n${deployment}\n${isUnnamed ?? ''}`
    const before = this.#made.get(name)
    const most =
      before?.largest && largest ? largerSize(before.largest, largest) : (largest ?? before?.largest)
    this.#made.set(name, {
      space,
      ...(isUnnamed && { isUnnamed }),
      deployment,
      fromMs: Math.min(fromMs, before?.fromMs ?? fromMs),
      untilMs: Math.max(untilMs, before?.untilMs ?? untilMs),
      ...(most && { largest: most }),
    })
  }

  get size(): number {
    return this.#made.size
  }

  get all(): readonly MadeVectors[] {
    return [...this.#made.values()]
  }
}
