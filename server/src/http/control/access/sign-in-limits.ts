/** Guessing of passwords: by the address that it comes from, and by the account that it is about. */
import { networkOf } from '#core/client-address.ts'
import { Failures } from '#core/failures.ts'
import { Fault } from '#core/fault/fault.ts'

/** Five, then one every twelve seconds: a person who mistypes does not notice, a program finds nothing in a year. */
const RULES = { burst: 5, refillMs: 12_000, maxNames: 10_000 } as const

export class SignInLimits {
  readonly #byAddress: Failures
  readonly #byAccount: Failures

  constructor(nowMs: () => number) {
    this.#byAddress = new Failures(RULES, nowMs)
    this.#byAccount = new Failures(RULES, nowMs)
  }

  /** Before anything is looked up or reckoned for this address. */
  checkAddress(address: string): void {
    check(this.#byAddress.waitMs(networkOf(address)), 'from this address')
  }

  /**
   * Counts an attempt as failed until it has succeeded, so that many at the same time are no way around. A member who comes
   * from where it signed in last is not kept out by the guesses of strangers elsewhere: else anybody could lock out anybody.
   */
  begin(address: string, account: string, isUsualAddress: boolean): { readonly succeeded: () => void } {
    const network = networkOf(address)
    if (!isUsualAddress) check(this.#byAccount.waitMs(account), 'for this account')
    this.#byAddress.note(network)
    this.#byAccount.note(account)
    return {
      succeeded: () => {
        this.#byAddress.forgive(network)
        this.#byAccount.forgive(account)
      },
    }
  }
}

function check(waitMs: number, where: string): void {
  if (waitMs <= 0) return
  throw new Fault(
    'too_many_sign_ins',
    `There were too many failed sign-ins ${where}. Try again in ${Math.ceil(waitMs / 1000)} s.`,
    { retryAfterMs: waitMs },
  )
}
