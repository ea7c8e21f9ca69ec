import type { Upstream } from '#core/catalog/catalog.ts'

/** Shortest secret: a shorter value would be found in every other word. */
const LEAST_CHARACTERS = 4
/** Names of provider settings, and of their fields, whose values are credentials. */
const CREDENTIAL_NAME = /key|secret|token|password/i
/** An operator needs the path of an unreadable file. */
const PATH_NAME = /file/i
/** Levels of settings: Google's options nest credentials two levels deep. */
const MAX_LEVELS = 4

/** The values that identify us to an upstream. None of them may appear in a message, however plain it looks. */
export function secretsOf({ apiKey, headers, settings }: Upstream): readonly string[] {
  const values = [apiKey ?? '', ...credentialsIn(settings, MAX_LEVELS)]
  for (const value of Object.values(headers)) {
    values.push(value)
    // An upstream may repeat a credential without the word before it, such as Bearer.
    const space = value.indexOf(' ')
    if (space > 0) values.push(value.slice(space + 1).trim())
  }
  const secrets = values.filter((value) => value.length >= LEAST_CHARACTERS)
  // The longest first: one may be part of another.
  return secrets.sort((one, other) => other.length - one.length)
}

function credentialsIn(settings: object, levels: number): readonly string[] {
  return Object.entries(settings).flatMap(([name, value]: [string, unknown]) => {
    if (typeof value === 'string') return CREDENTIAL_NAME.test(name) && !PATH_NAME.test(name) ? [value] : []
    return levels > 1 && typeof value === 'object' && value !== null ? credentialsIn(value, levels - 1) : []
  })
}
