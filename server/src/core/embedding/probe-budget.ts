/**
 * What the traffic of a deployment pays for: probes in calls of its sizes, for at most half a percent of its tokens. Each size earns
 * its own probe, so that frequent small calls do not use up what large ones have earned.
 */
import { largerSize, sizeName, type CallSize } from './call-size.ts'
import { probeTokens } from './probe-calls.ts'

/** The part of a deployment's tokens that its probes may use. */
export const PROBE_SHARE = 0.005
/**
 * Most tokens that are saved for later: what one call has at most at any known upstream. What a busy night has earned does not pay
 * for a quiet day.
 */
const MAX_SAVED_TOKENS = 300_000
/** Time after which a size belongs to the traffic no longer. */
const RECENT_MS = 10 * 60_000

interface SizeAccount {
  /** The largest since its last probe. Undefined: there was no call. */
  largest: CallSize | undefined
  earnedTokens: number
  seenMs: number
}

/** What is known of the last probe of a size, by any node. */
export interface SizeProbed {
  /** It was never probed. */
  readonly isNew: boolean
  /** It is time for another one. */
  readonly isDue: boolean
  /** Time since the last one. */
  readonly agoMs: number
}

export class ProbeBudget {
  readonly #sizes = new Map<string, SizeAccount>()
  #savedTokens = 0

  /** Calls of one class of sizes. `largest`: undefined where they had no texts, and pay all the same. */
  earn(tokens: number, largest: CallSize | undefined, nowMs: number): void {
    const earned = tokens * PROBE_SHARE
    this.#savedTokens = Math.min(MAX_SAVED_TOKENS, this.#savedTokens + earned)
    if (largest === undefined) return
    const name = sizeName(largest)
    const account = this.#sizes.get(name)
    this.#sizes.set(name, {
      largest: account?.largest === undefined ? largest : largerSize(account.largest, largest),
      earnedTokens: Math.min(MAX_SAVED_TOKENS, (account?.earnedTokens ?? 0) + earned),
      seenMs: nowMs,
    })
  }

  /** The size to probe now: one that was never probed first, then the one that has waited longest. Undefined: none can be paid for. */
  choose(probed: (name: string) => SizeProbed, nowMs: number): CallSize | undefined {
    let best: { readonly size: CallSize; readonly agoMs: number } | undefined
    for (const [name, { largest, earnedTokens, seenMs }] of this.#sizes) {
      if (nowMs - seenMs > RECENT_MS) this.#sizes.delete(name)
      if (largest === undefined || nowMs - seenMs > RECENT_MS) continue
      const { isNew, isDue, agoMs: agoSinceMs } = probed(name)
      const agoMs = isNew ? Infinity : agoSinceMs
      if (!isDue || (best !== undefined && best.agoMs >= agoMs)) continue
      const payable = isNew ? this.#savedTokens : Math.min(this.#savedTokens, earnedTokens)
      if (probeTokens(largest) <= payable) best = { size: largest, agoMs }
    }
    return best?.size
  }

  /** A probe of this size was made. */
  spend(tokens: number, size: CallSize): void {
    this.#savedTokens -= tokens
    const account = this.#sizes.get(sizeName(size))
    if (account === undefined) return
    account.largest = undefined
    account.earnedTokens = Math.max(0, account.earnedTokens - tokens)
  }

  /** The short probe goes whether it was earned or not. */
  spendShort(tokens: number): void {
    this.#savedTokens = Math.min(this.#savedTokens, Math.max(0, this.#savedTokens - tokens))
  }
}
