/** Writes whose users or tags are being registered. A new value holds up its own records, and no batch. */
import type { KeptWrite } from './kept-writes.ts'

export class UnregisteredWrites {
  readonly #registering = new Set<Promise<void>>()
  #size = 0

  /** Their entries. */
  get size(): number {
    return this.#size
  }

  /** Calls `then` when the registration has ended, with its error if it failed. */
  hold(
    { entries }: Pick<KeptWrite, 'entries'>,
    registering: Promise<void>,
    then: (error?: unknown) => void,
  ): void {
    this.#size += entries.length
    const leave = (error?: unknown): void => {
      this.#size -= entries.length
      this.#registering.delete(ended)
      then(error)
    }
    const ended = registering.then(() => leave(), leave)
    this.#registering.add(ended)
  }

  /** Resolves when those in progress have ended. */
  async registered(): Promise<void> {
    await Promise.all(this.#registering)
  }
}
