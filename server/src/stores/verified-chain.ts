/** The part of the audit's chain that this node has verified already, so that the next check costs only what came since. */
import type { AuditChainState } from '#ports/audit.ts'
import type { Clock } from '#ports/clock.ts'
import type { AuditChain, ChainedEntry } from './audit-chain.ts'

/** Entries checked at a time: a few milliseconds, after which other requests get their turn. */
const PAGE_ENTRIES = 200
/** Pages per verification: under half a second. The next verifications do the rest. */
const MAX_PAGES = 50
/** Time after which everything is verified again: an entry can be changed after it was checked. */
const REMEMBERED_MS = 3_600_000

/** Entries from a sequence number on, included, oldest first. */
type ReadEntries = (from: bigint, limit: number) => Promise<readonly ChainedEntry[]>

interface Verified {
  readonly sinceMs: number
  readonly last: Pick<ChainedEntry, 'sequence' | 'hash'> | undefined
  readonly brokenAt: bigint | undefined
}

export class VerifiedChain {
  readonly #read: ReadEntries
  readonly #clock: Clock
  #verified: Verified | undefined
  #inProgress: Promise<Omit<AuditChainState, 'entries'>> | undefined
  /** The first entry that a reader found not to be intact, since everything was last verified. */
  #foundBroken: bigint | undefined

  constructor(clock: Clock, read: ReadEntries) {
    this.#clock = clock
    this.#read = read
  }

  /** An entry that a reader found not to be intact: it counts as if this chain had found it. */
  found(broken: bigint): void {
    this.#foundBroken = earlier(this.#foundBroken, broken)
  }

  /** Concurrent callers get the same answer. */
  verify(chain: AuditChain): Promise<Omit<AuditChainState, 'entries'>> {
    this.#inProgress ??= this.#verify(chain).finally(() => (this.#inProgress = undefined))
    return this.#inProgress
  }

  async #verify(chain: AuditChain): Promise<Omit<AuditChainState, 'entries'>> {
    const nowMs = this.#clock.monotonicMs()
    const known = this.#verified
    const isRemembered = known !== undefined && nowMs - known.sinceMs < REMEMBERED_MS
    if (known !== undefined && !isRemembered) this.#foundBroken = undefined
    let { sinceMs, last, brokenAt }: Verified = isRemembered
      ? known
      : { sinceMs: nowMs, last: undefined, brokenAt: undefined }
    for (let page = 0; page < MAX_PAGES; page += 1) {
      // The last one is read again, to see that it is still there and unchanged.
      const entries = await this.#read(last?.sequence ?? 1n, PAGE_ENTRIES)
      if (last !== undefined && !isSame(entries[0], last)) brokenAt ??= last.sequence
      for (const entry of entries) {
        if (last !== undefined && entry.sequence <= last.sequence) continue
        if (!chain.checked(entry, last?.hash).intact) brokenAt ??= entry.sequence
        last = { sequence: entry.sequence, hash: entry.hash }
      }
      if (entries.length < PAGE_ENTRIES) break
    }
    this.#verified = { sinceMs, last, brokenAt }
    return {
      verified: Number(last?.sequence ?? 0n),
      brokenAt: earlier(brokenAt, this.#foundBroken),
      lastHash: hex(last?.hash),
    }
  }
}

function isSame(entry: ChainedEntry | undefined, last: Pick<ChainedEntry, 'sequence' | 'hash'>): boolean {
  return entry?.sequence === last.sequence && Buffer.compare(entry.hash, last.hash) === 0
}

function earlier(one: bigint | undefined, other: bigint | undefined): bigint | undefined {
  return one === undefined || (other !== undefined && other < one) ? other : one
}

function hex(hash: Uint8Array | undefined): string {
  return hash === undefined ? '' : Buffer.from(hash.subarray(0, 32)).toString('hex')
}
