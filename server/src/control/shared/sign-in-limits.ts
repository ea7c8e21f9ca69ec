/** Bounds the guessing of passwords: by the address of the client, and by the account. */
import { networkOf } from '#core/access/client-address.ts'
import { Failures } from '#core/limits/failures.ts'
import { Fault } from '#core/fault/fault.ts'

/** Failed attempts: five, then one every twelve seconds. A person who mistypes does not notice, a program finds nothing in a year. */
const RULES = { burst: 5, refillMs: 12_000, maxNames: 10_000 } as const

export class SignInLimits {
  readonly #byAddress: Failures
  readonly #byAccount: Failures

  constructor(nowMs: () => number) {
    this.#byAddress = new Failures(RULES, nowMs)
    this.#byAccount = new Failures(RULES, nowMs)
  }

  /** Call it before anything is looked up or hashed for this address. */
  checkAddress(address: string): void {
    check(this.#byAddress.waitMs(networkOf(address)), 'from this address')
  }

  /**
   * Counts an attempt as failed until it has succeeded, so that concurrent attempts count too. Guesses from elsewhere do not
   * keep out a member at the address of its last sign-in: otherwise any stranger could lock out any member.
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
