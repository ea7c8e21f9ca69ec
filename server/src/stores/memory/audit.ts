import type { AuditAction, AuditEntry, AuditLog } from '#ports/audit.ts'
import type { Clock } from '#ports/clock.ts'
import { AuditChain, keptAction, type ChainedEntry } from '../audit-chain.ts'

/** The audit in memory, gone with the process. It only grows by what people do. */
export class MemoryAudit implements AuditLog {
  readonly #clock: Clock
  readonly #chain: AuditChain
  readonly #entries: ChainedEntry[] = []

  constructor(clock: Clock, chain = new AuditChain()) {
    this.#clock = clock
    this.#chain = chain
  }

  write(action: AuditAction): void {
    const last = this.#entries.at(-1)
    const entry = {
      ...structuredClone(keptAction(action)),
      sequence: (last?.sequence ?? 0n) + 1n,
      atMs: this.#clock.nowMs(),
    }
    this.#entries.push({ ...entry, hash: this.#chain.hashOf(last?.hash, entry) })
  }

  async list({ limit, before }: Parameters<AuditLog['list']>[0]): Promise<readonly AuditEntry[]> {
    const end = before === undefined ? this.#entries.length : Math.max(0, Number(before) - 1)
    const page = this.#entries.slice(Math.max(0, end - limit - 1), end).reverse()
    return this.#chain.checkedPage(page, limit)
  }
}
