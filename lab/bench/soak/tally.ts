/** What the clients received, and what was wrong with it. */
export class Tally {
  readonly #counts = new Map<string, number>()
  readonly wrong: string[] = []
  requests = 0
  vectors = 0
  pictures = 0
  assets = 0
  left = 0
  /**
   * Colours of images in another format than the upstream's, by prompt: the upstream's records show whether they are right.
   */
  readonly converted: { readonly prompt: string; readonly colours: Uint8Array }[] = []
  /** How many calls each prompt may have cost. */
  readonly callsAllowed = new Map<string, number>()

  count(name: string): void {
    this.#counts.set(name, (this.#counts.get(name) ?? 0) + 1)
  }

  must(holds: boolean, what: () => string): void {
    if (!holds) this.wrong.push(what())
  }

  get rows(): string[][] {
    return [...this.#counts]
      .toSorted(([a], [b]) => a.localeCompare(b))
      .map(([name, count]) => [name, `${count}`])
  }
}
