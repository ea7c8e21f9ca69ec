/** When keys of the configuration were last used, until the store is told. */
import type { KeyUse } from '#ports/key-store.ts'

/** A last use is noted once a minute for each key: people look at days. */
export const USE_NOTED_MS = 60_000

export class DeclaredUses {
  /** By key id. It holds no more keys than the configuration has had since the start. */
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

  /** The store could not be told. What was noted since counts more. */
  putBack(uses: readonly KeyUse[]): void {
    for (const { keyId, atMs } of uses) if (!this.#waiting.has(keyId)) this.#waiting.set(keyId, atMs)
  }
}
