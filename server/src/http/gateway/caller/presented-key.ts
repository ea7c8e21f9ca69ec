import type { IncomingHttpHeaders } from 'node:http'

/** The key, from whichever of the three headers the client uses. */
export function presentedKey(headers: IncomingHttpHeaders): string | undefined {
  const { authorization } = headers
  if (authorization !== undefined) {
    return authorization.startsWith('Bearer ') && authorization[7] !== ' '
      ? authorization.slice(7)
      : /^bearer\s+(\S+)\s*$/i.exec(authorization)?.[1]
  }
  const key = headers['api-key'] ?? headers['x-api-key']
  return typeof key === 'string' ? key : undefined
}
