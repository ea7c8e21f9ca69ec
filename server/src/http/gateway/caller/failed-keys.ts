/** Wrong keys, by the address they come from: a sender of many is refused for a while before its key is looked up. */
import { Fault } from '#core/fault/fault.ts'

/** So many at once: a fleet behind one address whose key was revoked, while its operator looks for the new one. */
const BURST = 30
/** And then one a second. A key has 190 bits: guessing it is hopeless at any rate, this is about the work that it makes. */
const REFILL_MS = 1000
/** Strangers must not fill the memory: ten thousand addresses are about 1 MB. */
const MAX_ADDRESSES = 10_000

export class FailedKeys {
  readonly #nowMs: () => number
  /** When all failures of an address are forgotten: each adds a second. Oldest failure first. */
  readonly #forgottenMs = new Map<string, number>()

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs
  }

  /** Nobody has to wait: the usual case, in which nobody needs to find out an address. */
  get isEmpty(): boolean {
    return this.#forgottenMs.size === 0
  }

  /** How long the client at this address has to wait before an unknown key of it is looked up. */
  waitMs(address: string): number {
    const forgottenMs = this.#forgottenMs.get(networkOf(address)) ?? 0
    return Math.max(0, forgottenMs - this.#nowMs() - (BURST - 1) * REFILL_MS)
  }

  note(address: string, error: unknown): void {
    if (!(error instanceof Fault) || error.code !== 'invalid_api_key') return
    const network = networkOf(address)
    const nowMs = this.#nowMs()
    const forgottenMs = Math.max(this.#forgottenMs.get(network) ?? 0, nowMs) + REFILL_MS
    // Set anew, so that the map is in the order of the last failures.
    this.#forgottenMs.delete(network)
    this.#forgottenMs.set(network, forgottenMs)
    for (const [oldest, untilMs] of this.#forgottenMs) {
      if (untilMs > nowMs && this.#forgottenMs.size <= MAX_ADDRESSES) break
      this.#forgottenMs.delete(oldest)
    }
  }
}

/** One customer of a provider has 2^64 addresses of IPv6: they count as one. */
function networkOf(address: string): string {
  if (!address.includes(':')) return address
  const [head = ''] = address.split('::')
  return head.split(':').slice(0, 4).join(':')
}
