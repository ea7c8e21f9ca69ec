/** The cookies of the console. No page can read them, and no request of another site's page carries them. */
import type { Transport } from './transport.ts'

/** `__Host-`: a browser takes it over TLS only, and no other host of the domain can set it. */
const SECURE = '__Host-'
const SESSION = 'torana'
const TRIP = 'torana-sign-on'
/** Life of a trip: a person at the identity provider looks for a second factor. */
const TRIP_S = 600

export interface SessionCookie {
  readonly value: string
  /** It came over TLS, or the browser would not have sent it. */
  readonly isSecure: boolean
}

export function sessionCookieIn(header: string | undefined): SessionCookie | undefined {
  const cookies = cookiesIn(header)
  const secure = cookies.get(`${SECURE}${SESSION}`)
  if (secure !== undefined) return { value: secure, isSecure: true }
  const plain = cookies.get(SESSION)
  return plain === undefined ? undefined : { value: plain, isSecure: false }
}

/** It ends with the browser; the session may end earlier. */
export function sessionCookie({ isSecure }: Pick<Transport, 'isSecure'>, value: string): string {
  return cookie(SESSION, value, isSecure, 'SameSite=Strict')
}

/** Both forms: the console may have been moved to TLS meanwhile. */
export function noSessionCookie({ isSecure }: Pick<Transport, 'isSecure'>): readonly string[] {
  const plain = cookie(SESSION, '', false, 'SameSite=Strict; Max-Age=0')
  return isSecure ? [cookie(SESSION, '', true, 'SameSite=Strict; Max-Age=0'), plain] : [plain]
}

export function tripIn(header: string | undefined): string | undefined {
  const cookies = cookiesIn(header)
  return cookies.get(`${SECURE}${TRIP}`) ?? cookies.get(TRIP)
}

/** Lax: the browser comes back from a page of the identity provider. */
export function tripCookie({ isSecure }: Pick<Transport, 'isSecure'>, value: string): string {
  return cookie(TRIP, value, isSecure, `SameSite=Lax; Max-Age=${value === '' ? 0 : TRIP_S}`)
}

function cookie(name: string, value: string, isSecure: boolean, attributes: string): string {
  const common = `Path=/; HttpOnly; ${attributes}`
  return isSecure ? `${SECURE}${name}=${value}; ${common}; Secure` : `${name}=${value}; ${common}`
}

/** The first of each name counts, as browsers send the one of the longest path first. */
function cookiesIn(header = ''): ReadonlyMap<string, string> {
  const pairs = header.split(';').map((pair) => {
    const [name = '', ...value] = pair.split('=')
    return [name.trim(), value.join('=').trim()] as const
  })
  return new Map(pairs.toReversed())
}
