import type {
  AuditAction,
  AuditChainState,
  AuditEntry,
  AuditFilter,
  AuditLog,
  AuditPage,
} from '#ports/audit.ts'
import type { Clock } from '#ports/clock.ts'
import { AuditChain, keptAction, type ChainedEntry } from '#stores/audit-chain.ts'
import { VerifiedChain } from '#stores/verified-chain.ts'

/** The audit in memory, gone with the process. It only grows by what people do. */
export class MemoryAudit implements AuditLog {
  readonly #clock: Clock
  readonly #chain: AuditChain
  readonly #verified: VerifiedChain
  readonly #entries: ChainedEntry[] = []

  constructor(clock: Clock, chain = new AuditChain()) {
    this.#clock = clock
    this.#chain = chain
    this.#verified = new VerifiedChain(clock, async (from, limit) =>
      this.#entries.slice(Number(from) - 1, Number(from) - 1 + limit),
    )
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

  async appendNews(action: Parameters<AuditLog['appendNews']>[0]): Promise<void> {
    const last = this.#entries.findLast((one) => one.action === action.action && one.target === action.target)
    if (last?.detail['digest'] !== action.detail.digest) this.write(action)
  }

  async list({ limit, before, ...filter }: AuditPage): Promise<readonly AuditEntry[]> {
    return this.#entries
      .filter((entry) => (before === undefined || entry.sequence < before) && isMet(filter, entry))
      .toReversed()
      .slice(0, limit)
      .map((entry) => this.#chain.checked(entry, this.#entries[Number(entry.sequence) - 2]?.hash))
  }

  async chain(): Promise<AuditChainState> {
    return { entries: this.#entries.length, ...(await this.#verified.verify(this.#chain)) }
  }
}

function isMet({ actor, action, target, fromMs, toMs }: AuditFilter, entry: ChainedEntry): boolean {
  return (
    (actor === undefined || entry.actor === actor) &&
    (action === undefined || entry.action === action) &&
    (target === undefined || entry.target === target) &&
    (fromMs === undefined || entry.atMs >= fromMs) &&
    (toMs === undefined || entry.atMs < toMs)
  )
}
