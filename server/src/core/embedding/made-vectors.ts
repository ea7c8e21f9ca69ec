/** Who made vectors, and when: whether they were of their model's space may turn out later, when a deployment is found outside. */

export interface MadeVectors {
  /** The space that they were made for. */
  readonly space: string
  /** A field of the request may have changed them in an unknown way: they are guarded as those of the space, and do not have its name. */
  readonly isUnnamed?: true | undefined
  readonly deployment: string
  /** From when the first was asked for until the last had come, in Unix milliseconds. */
  readonly fromMs: number
  readonly untilMs: number
}

/** The names of the spaces that vectors are in; empty for those that have none. */
export function spaceNames(made: readonly MadeVectors[]): readonly string[] {
  return [...new Set(made.map(({ space, isUnnamed }) => (isUnnamed ? '' : space)))].sort()
}

/** The makers of many vectors: of each space one span of time for each deployment. */
export class Makers {
  readonly #made = new Map<string, MadeVectors>()

  add({ space, isUnnamed, deployment, fromMs, untilMs }: MadeVectors): void {
    const name = `${space}\n${deployment}\n${isUnnamed ?? ''}`
    const before = this.#made.get(name)
    this.#made.set(name, {
      space,
      ...(isUnnamed && { isUnnamed }),
      deployment,
      fromMs: Math.min(fromMs, before?.fromMs ?? fromMs),
      untilMs: Math.max(untilMs, before?.untilMs ?? untilMs),
    })
  }

  get size(): number {
    return this.#made.size
  }

  get all(): readonly MadeVectors[] {
    return [...this.#made.values()]
  }
}
