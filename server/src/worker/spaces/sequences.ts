/** Work under one name is done one after another, in the order it was asked for. */
export class Sequences {
  readonly #last = new Map<string, Promise<void>>()

  /** How many names have work under way. */
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

  /** When all that was asked for by now has ended, well or not. */
  async ended(): Promise<void> {
    await Promise.all(this.#last.values())
  }
}
