/** Faults of people who sign in to the console. */
import type { FaultEntry } from './entry.ts'

export const SIGN_IN_FAULTS = {
  sign_in_failed: {
    status: 401,
    type: 'authentication_error',
    retry: false,
    who: 'caller',
    meaning:
      'No member has this mail address with this password, or the member is disabled. Torana does not tell which.',
    nextStep: 'Check both. An admin can invite you again, which lets you choose a new password.',
  },
  session_ended: {
    status: 401,
    type: 'authentication_error',
    retry: false,
    who: 'caller',
    meaning:
      'The session has ended: it was not used for twelve hours, it is older than seven days, or a person ended it.',
    nextStep: 'Sign in again.',
  },
  link_invalid: {
    status: 404,
    type: 'not_found_error',
    retry: false,
    who: 'caller',
    meaning: 'The link is wrong, has expired, was revoked, or was used already. Each works once.',
    nextStep:
      'Ask an admin for a new invitation. Until the first member exists, each start prints a new link.',
  },
  insecure_sign_in: {
    status: 403,
    type: 'permission_error',
    retry: false,
    who: 'operator',
    meaning:
      'The console is reached over plain http from another machine: passwords and sessions could be read on the way.',
    nextStep:
      'Put TLS in front of the control port, and set `CONSOLE_URL` to its https address and `TRUSTED_PROXIES` to the proxy. In a network that you trust, set `TORANA_INSECURE_CONSOLE=true`.',
  },
  wrong_origin: {
    status: 403,
    type: 'permission_error',
    retry: false,
    who: 'caller',
    meaning:
      'A change with a session came from a page of another address than the console, or without an Origin.',
    nextStep:
      'Open the console at its own address. If a proxy changes the address, set `CONSOLE_URL`. Programs use a token.',
  },
  sign_on_failed: {
    status: 502,
    type: 'upstream_error',
    retry: false,
    who: 'operator',
    meaning: 'The identity provider could not be asked, or its answer could not be trusted.',
    nextStep: 'Test the sign-on in the settings of the console: it shows what the identity provider said.',
  },
  too_many_sign_ins: {
    status: 429,
    type: 'rate_limit_error',
    retry: true,
    who: 'caller',
    meaning:
      'There were too many failed sign-ins from this address or for this account, or too many at once.',
    nextStep: 'Wait as long as `retry-after` says.',
  },
} as const satisfies Record<string, FaultEntry>
