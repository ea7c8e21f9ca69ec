/** Wrong keys by client address: a sender of many is refused for a while before its key is looked up. */
import { networkOf } from '#core/access/client-address.ts'
import { Failures } from '#core/limits/failures.ts'
import { Fault } from '#core/fault/fault.ts'

const RULES = {
  /** Enough for a fleet behind one address whose key was revoked, while its operator looks for the new one. */
  burst: 30,
  /** A key has 190 bits: guessing is hopeless at any rate; this limits the work that it causes. */
  refillMs: 1000,
  /** About 1 MB. */
  maxNames: 10_000,
} as const

export class FailedKeys {
  readonly #failures: Failures

  constructor(nowMs: () => number) {
    this.#failures = new Failures(RULES, nowMs)
  }

  /** True when no client has to wait, which is the usual case: then no address needs to be computed. */
  get isEmpty(): boolean {
    return this.#failures.isEmpty
  }

  /** How long the client at this address must wait before its unknown key is looked up. */
  waitMs(address: string): number {
    return this.#failures.waitMs(networkOf(address))
  }

  note(address: string, error: unknown): void {
    if (error instanceof Fault && error.code === 'invalid_api_key') this.#failures.note(networkOf(address))
  }
}
