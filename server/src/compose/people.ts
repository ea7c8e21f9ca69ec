/** Composition of people: who may sign in to the console, and how. */
import { upstreamsOf } from '#core/catalog.ts'
import { clientAddressBehind, isFromProxy } from '#http/client-address.ts'
import { Callers } from '#http/control/access/callers.ts'
import type { InstallFacts, PeopleDependencies } from '#http/control/access/people.ts'
import { digestOf, newSecretText } from '#http/control/access/secret-text.ts'
import { SignInLimits } from '#http/control/access/sign-in-limits.ts'
import { Transports } from '#http/control/access/transport.ts'
import { openidProvider } from '#runtime/identity-provider.ts'
import { argon2Passwords } from '#runtime/passwords.ts'
import { textSeal } from '#runtime/sealed-text.ts'
import { signOnKeysOf } from '#runtime/secret.ts'
import { every } from '#worker/every.ts'
import { version, type Basics } from './basics.ts'
import type { CatalogInForce } from './catalog.ts'
import type { Stores } from './stores.ts'

/** Ended sessions are refused anyway; this keeps their table small. */
const SWEEP_MS = 3_600_000
/** Long enough for whoever starts a node in the evening; each start prints a new link. */
const FIRST_RUN_MS = 24 * 3_600_000

export interface People extends AsyncDisposable {
  /** Undefined on a node that keeps nothing. */
  readonly forControl: PeopleDependencies | undefined
  /** The page on which somebody becomes the first admin; undefined: there is a member, or nothing is kept. */
  readonly welcomeUrl: string | undefined
}

export interface PeopleParts {
  readonly stores: Pick<Stores, 'people' | 'keys'>
  readonly catalog: Pick<CatalogInForce, 'current'>
  readonly publicUrl: string
  readonly controlUrl: string
}

export async function openPeople(basics: Basics, parts: PeopleParts): Promise<People> {
  const { clock, log, secrets, settings } = basics
  const { people } = parts.stores
  if (people === undefined)
    return { forControl: undefined, welcomeUrl: undefined, [Symbol.asyncDispose]: async () => {} }
  const { sessions, adminTokens, members } = people
  const quiet = (error: unknown): void => log.warn({ err: error }, 'a session could not be written')
  const sweeping = every(SWEEP_MS, () => sessions.sweep(), quiet)
  const { trustedProxies, consoleUrl, insecureConsole } = settings
  const monotonicMs = (): number => clock.monotonicMs()
  return {
    forControl: {
      ...people,
      identityProvider: openidProvider(monotonicMs),
      passwords: argon2Passwords(),
      seal: textSeal(signOnKeysOf(secrets)),
      transports: new Transports({
        clientAddress: clientAddressBehind(trustedProxies),
        isFromProxy: isFromProxy(trustedProxies),
        consoleUrl,
        insecureAllowed: insecureConsole,
      }),
      callers: new Callers({ sessions, adminTokens, nowMs: clock.nowMs, onUntouched: quiet }),
      signInLimits: new SignInLimits(monotonicMs),
      install: () => installFacts(basics, parts),
      nowMs: clock.nowMs,
      onSignOnTrouble: ({ problem, cause }) =>
        log.warn({ problem, ...(cause !== undefined && { err: cause }) }, 'a sign-on failed'),
    },
    welcomeUrl: await welcomeUrl(members, consoleUrl ?? parts.controlUrl).catch((error: unknown) => {
      log.warn({ err: error }, 'there is no link for a first admin: the store did not answer')
      return undefined
    }),
    [Symbol.asyncDispose]: () => sweeping.stop(),
  }
}

async function welcomeUrl(
  members: PeopleDependencies['members'],
  consoleUrl: string,
): Promise<string | undefined> {
  const token = newSecretText()
  const isFirst = await members.addFirstRunLink(digestOf(token), FIRST_RUN_MS)
  // Behind the #, it is sent to no server: the logs of a proxy never have it.
  return isFirst ? `${consoleUrl}/welcome#token=${token}` : undefined
}

async function installFacts({ settings }: Basics, parts: PeopleParts): Promise<InstallFacts> {
  const keys = await parts.stores.keys.listKeys({ limit: 1 })
  return {
    name: settings.name,
    version,
    gatewayUrl: parts.publicUrl,
    isFirstRun: keys.length === 0,
    hasOnlyDemo: upstreamsOf(parts.catalog.current).every(({ dialect }) => dialect === 'demo'),
  }
}
