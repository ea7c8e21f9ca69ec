/**
 * Asks the holder of a chunk to end with what it has. A call in the queue leaves the queue; a call in
 * progress continues, since it is paid for.
 */
import type { Caller } from '../traffic/caller.ts'

export class StopSignal implements Caller {
  /** Further calls of a request that has begun are still made: its first calls are paid for. */
  readonly destroyed = false
  readonly #listeners = new Set<() => void>()
  #isUp = false

  get isUp(): boolean {
    return this.#isUp
  }

  raise(): void {
    if (this.#isUp) return
    this.#isUp = true
    for (const listener of this.#listeners) listener()
    this.#listeners.clear()
  }

  once(_event: 'close', listener: () => void): void {
    this.#listeners.add(listener)
  }

  off(_event: 'close', listener: () => void): void {
    this.#listeners.delete(listener)
  }
}
