import type { Upstream } from '#core/catalog.ts'

/** A shorter value is no secret: it would be found in every other word. */
const LEAST_CHARACTERS = 4
/** Names of settings of provider packages, and of what is in them, whose values are credentials. */
const CREDENTIAL_NAME = /key|secret|token|password/i
/** An operator needs the path of a file that can't be read. */
const PATH_NAME = /file/i
/** Settings are nested two levels deep at most: Google's options hold credentials. */
const MOST_LEVELS = 4

/** The values by which an upstream knows us. None of them may be in a message, however plain it looks. */
export function secretsOf({ apiKey, headers, settings }: Upstream): readonly string[] {
  const values = [apiKey ?? '', ...credentialsIn(settings, MOST_LEVELS)]
  for (const value of Object.values(headers)) {
    values.push(value)
    // An upstream may repeat a credential without the word before it, such as Bearer.
    const space = value.indexOf(' ')
    if (space > 0) values.push(value.slice(space + 1).trim())
  }
  const secrets = values.filter((value) => value.length >= LEAST_CHARACTERS)
  // The longest first: one may be a part of another.
  return secrets.sort((one, other) => other.length - one.length)
}

function credentialsIn(settings: object, levels: number): readonly string[] {
  return Object.entries(settings).flatMap(([name, value]: [string, unknown]) => {
    if (typeof value === 'string') return CREDENTIAL_NAME.test(name) && !PATH_NAME.test(name) ? [value] : []
    return levels > 1 && typeof value === 'object' && value !== null ? credentialsIn(value, levels - 1) : []
  })
}
