/**
 * Syncs of folders that many blobs are written to at the same time. A sync in progress may miss later files, so a later caller waits
 * for the next sync and shares it with all others that came meanwhile.
 */
export class SharedSyncs {
  readonly #sync: (folder: string) => Promise<void>
  readonly #running = new Map<string, Promise<void>>()
  readonly #next = new Map<string, Promise<void>>()

  constructor(sync: (folder: string) => Promise<void>) {
    this.#sync = sync
  }

  /** Resolves when all that was in the folder before the call is durable. */
  sync(folder: string): Promise<void> {
    const running = this.#running.get(folder)
    if (running === undefined) return this.#begin(folder)
    const known = this.#next.get(folder)
    if (known !== undefined) return known
    const begin = (): Promise<void> => {
      this.#next.delete(folder)
      return this.#begin(folder)
    }
    const next = running.then(begin, begin)
    this.#next.set(folder, next)
    return next
  }

  #begin(folder: string): Promise<void> {
    const running = this.#sync(folder).finally(() => this.#running.delete(folder))
    this.#running.set(folder, running)
    return running
  }
}
