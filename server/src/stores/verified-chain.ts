/** What of the audit's chain this node has verified already, so that the next look costs only what came since. */
import type { AuditChainState } from '#ports/audit.ts'
import type { Clock } from '#ports/clock.ts'
import type { AuditChain, ChainedEntry } from './audit-chain.ts'

/** Checked in a few milliseconds; other requests get their turn before the next. */
const PORTION = 200
/** What one question may take: under half a second. What is left is verified by the next ones. */
const MAX_PORTIONS = 50
/** After it all is verified anew: an entry can be changed after it was looked at. */
const REMEMBERED_MS = 3_600_000

/** Entries from a sequence on, that one included, oldest first. */
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
  #underWay: Promise<Omit<AuditChainState, 'entries'>> | undefined

  constructor(clock: Clock, read: ReadEntries) {
    this.#clock = clock
    this.#read = read
  }

  /** Whoever asks while another question is answered gets the same answer. */
  verify(chain: AuditChain): Promise<Omit<AuditChainState, 'entries'>> {
    this.#underWay ??= this.#verify(chain).finally(() => (this.#underWay = undefined))
    return this.#underWay
  }

  async #verify(chain: AuditChain): Promise<Omit<AuditChainState, 'entries'>> {
    const nowMs = this.#clock.monotonicMs()
    const known = this.#verified
    let { sinceMs, last, brokenAt }: Verified =
      known !== undefined && nowMs - known.sinceMs < REMEMBERED_MS
        ? known
        : { sinceMs: nowMs, last: undefined, brokenAt: undefined }
    for (let portion = 0; portion < MAX_PORTIONS; portion += 1) {
      // The last one is read again: whether it is still there, and still the same.
      const entries = await this.#read(last?.sequence ?? 1n, PORTION)
      if (last !== undefined && !isSame(entries[0], last)) brokenAt ??= last.sequence
      for (const entry of entries) {
        if (last !== undefined && entry.sequence <= last.sequence) continue
        if (!chain.checked(entry, last?.hash).intact) brokenAt ??= entry.sequence
        last = { sequence: entry.sequence, hash: entry.hash }
      }
      if (entries.length < PORTION) break
    }
    this.#verified = { sinceMs, last, brokenAt }
    return { verified: Number(last?.sequence ?? 0n), brokenAt, lastHash: hex(last?.hash) }
  }
}

function isSame(entry: ChainedEntry | undefined, last: Pick<ChainedEntry, 'sequence' | 'hash'>): boolean {
  return entry?.sequence === last.sequence && Buffer.compare(entry.hash, last.hash) === 0
}

function hex(hash: Uint8Array | undefined): string {
  return hash === undefined ? '' : Buffer.from(hash.subarray(0, 32)).toString('hex')
}
