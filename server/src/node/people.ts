/** Opens what people sign in to the console with. */
import { welcomeUrl } from '#control/session/open.ts'
import { Callers } from '#control/shared/callers.ts'
import type { ControlNode } from '#control/shared/node.ts'
import { callerOfToken } from '#control/shared/rights-queries.ts'
import { callerOfCookie, sweepSessions } from '#control/shared/session-queries.ts'
import { SignInLimits } from '#control/shared/sign-in-limits.ts'
import { Transports } from '#control/shared/transport.ts'
import { openidProvider } from '#runtime/identity-provider.ts'
import { argon2Passwords } from '#runtime/passwords.ts'
import { textSeal } from '#runtime/sealed-text.ts'
import { sealingKeysOf, signOnKeysOf } from '#runtime/secret.ts'
import { every } from '#worker/every.ts'
import type { Basics } from './basics.ts'
import type { Stores } from './stores.ts'

/** Pause between two deletions of ended sessions. */
const SWEEP_MS = 3_600_000

export type People = Awaited<ReturnType<typeof openPeople>>

export async function openPeople(
  { clock, log, secrets, settings }: Basics,
  { reports }: Pick<Stores, 'reports'>,
  controlUrl: string,
) {
  const logUnwritten = (error: unknown): void => log.warn({ err: error }, 'a session could not be written')
  const sweeping = every(SWEEP_MS, () => sweepSessions(reports), logUnwritten)
  const monotonicMs = (): number => clock.monotonicMs()
  return {
    forControl: {
      callers: new Callers({
        ofToken: (digest) => callerOfToken(reports, digest),
        ofCookie: (digest) => callerOfCookie(reports, digest),
        nowMs: clock.nowMs,
        onUntouched: logUnwritten,
      }),
      identityProvider: openidProvider(monotonicMs),
      onSignOnTrouble: ({ problem, cause }) =>
        log.warn({ problem, ...(cause !== undefined && { err: cause }) }, 'a sign-on failed'),
      passwords: argon2Passwords(),
      seal: textSeal(signOnKeysOf(secrets)),
      sealingKeys: sealingKeysOf(secrets),
      signInLimits: new SignInLimits(monotonicMs),
      transports: new Transports(settings),
    } satisfies Partial<ControlNode>,
    /** The page on which a person becomes the first admin; undefined: there is a member. */
    welcomeUrl: await welcomeUrl(reports, settings.consoleUrl ?? controlUrl).catch((error: unknown) => {
      log.warn({ err: error }, 'there is no link for a first admin: the store did not answer')
      return undefined
    }),
    [Symbol.asyncDispose]: () => sweeping.stop(),
  }
}
