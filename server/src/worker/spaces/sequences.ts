/** Runs work under one name in the order in which it was asked for, one at a time. */
export class Sequences {
  readonly #last = new Map<string, Promise<void>>()

  /** Names with work in progress. */
  get size(): number {
    return this.#last.size
  }

  has(name: string): boolean {
    return this.#last.has(name)
  }

  add<Result>(name: string, work: () => Promise<Result>): Promise<Result> {
    const own = (this.#last.get(name) ?? Promise.resolve()).then(work)
    const ended = own.then(
      () => {},
      () => {},
    )
    this.#last.set(name, ended)
    void ended.then(() => {
      if (this.#last.get(name) === ended) this.#last.delete(name)
    })
    return own
  }

  /** Resolves when everything asked for by now has ended, successfully or not. */
  async ended(): Promise<void> {
    await Promise.all(this.#last.values())
  }
}
