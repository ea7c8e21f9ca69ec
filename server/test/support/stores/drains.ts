import type { Actor } from '#ports/audit.ts'
import type { Clock } from '#ports/clock.ts'
import type { Drain, DrainStore } from '#ports/drains.ts'
import type { MemoryAudit } from './audit.ts'

export class MemoryDrains implements DrainStore {
  readonly #clock: Clock
  readonly #audit: MemoryAudit
  /** The next version of the directory. */
  readonly #changed: () => void
  readonly #drains = new Map<string, Drain>()

  constructor(clock: Clock, audit: MemoryAudit, changed: () => void) {
    this.#clock = clock
    this.#audit = audit
    this.#changed = changed
  }

  async drain(deployment: string, reason: string, actor: Actor): Promise<Drain> {
    const atMs = this.#drains.get(deployment)?.atMs ?? this.#clock.nowMs()
    const drain = { deployment, reason, by: actor.name, atMs }
    this.#audit.write({ actor, action: 'deployment.drain', target: deployment, detail: { reason } })
    this.#drains.set(deployment, drain)
    this.#changed()
    return drain
  }

  async takeBack(deployment: string, reason: string, actor: Actor): Promise<void> {
    if (!this.#drains.delete(deployment)) return
    this.#audit.write({ actor, action: 'deployment.take_back', target: deployment, detail: { reason } })
    this.#changed()
  }

  async list(): Promise<readonly Drain[]> {
    return [...this.#drains.values()].sort((a, b) => (a.deployment < b.deployment ? -1 : 1))
  }
}
