import type { IncomingHttpHeaders } from 'node:http'

/** A key that stands alone in `authorization`, as no client of OpenAI's sends it. */
export function isWithoutScheme({ authorization = '' }: IncomingHttpHeaders): boolean {
  return authorization !== '' && !/\s/.test(authorization.trim()) && !/^bearer$/i.test(authorization.trim())
}

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
