/** Wrong keys, by the address they come from: a sender of many is refused for a while before its key is looked up. */
import { networkOf } from '#core/client-address.ts'
import { Failures } from '#core/failures.ts'
import { Fault } from '#core/fault/fault.ts'

const RULES = {
  /** A fleet behind one address whose key was revoked, while its operator looks for the new one. */
  burst: 30,
  /** A key has 190 bits: guessing it is hopeless at any rate, this is about the work that it makes. */
  refillMs: 1000,
  /** About 1 MB. */
  maxNames: 10_000,
} as const

export class FailedKeys {
  readonly #failures: Failures

  constructor(nowMs: () => number) {
    this.#failures = new Failures(RULES, nowMs)
  }

  /** Nobody has to wait: the usual case, in which nobody needs to find out an address. */
  get isEmpty(): boolean {
    return this.#failures.isEmpty
  }

  /** How long the client at this address has to wait before an unknown key of it is looked up. */
  waitMs(address: string): number {
    return this.#failures.waitMs(networkOf(address))
  }

  note(address: string, error: unknown): void {
    if (error instanceof Fault && error.code === 'invalid_api_key') this.#failures.note(networkOf(address))
  }
}
