/** Last uses of the configuration's keys, until they are written to the store. */
import type { KeyUse } from '#ports/key-store.ts'

/** Interval at which the last use of a key is noted: people look at days. */
export const USE_NOTED_MS = 60_000

export class DeclaredUses {
  /** Time by key id. It holds at most the keys that the configuration has had since the start. */
  readonly #notedAtMs = new Map<string, number>()
  #waiting = new Map<string, number>()

  note(keyId: string, nowMs: number): void {
    if (nowMs - (this.#notedAtMs.get(keyId) ?? -Infinity) < USE_NOTED_MS) return
    this.#notedAtMs.set(keyId, nowMs)
    this.#waiting.set(keyId, nowMs)
  }

  take(): readonly KeyUse[] {
    if (this.#waiting.size === 0) return []
    const uses = [...this.#waiting].map(([keyId, atMs]) => ({ keyId, atMs }))
    this.#waiting = new Map()
    return uses
  }

  /** The store could not be written. Later notes take precedence. */
  putBack(uses: readonly KeyUse[]): void {
    for (const { keyId, atMs } of uses) if (!this.#waiting.has(keyId)) this.#waiting.set(keyId, atMs)
  }
}
