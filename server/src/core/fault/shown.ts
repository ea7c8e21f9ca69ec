/** Longest value shown: enough to recognise it, too little to fill a log or an answer. */
const MAX_SHOWN_CHARACTERS = 100

/** Longest name shown: the longest model ids have half as many characters. */
const MAX_NAMED_CHARACTERS = 200

/** A caller's own name in quotes: cut, and without quotes inside, so that the log can tell it from the words around it. */
export function named(name: string, maxCharacters = MAX_NAMED_CHARACTERS): string {
  return `'${name.slice(0, maxCharacters).replaceAll("'", '’')}'`
}

/** A caller's own value as a message may repeat it: as JSON, cut, and never the whole of something large. */
export function shown(value: unknown): string {
  // Never written out: it may be as large and as deep as a body.
  if (typeof value === 'object' && value !== null) return Array.isArray(value) ? 'a list' : 'an object'
  if (typeof value === 'string' && value.length > MAX_SHOWN_CHARACTERS)
    return `${JSON.stringify(value.slice(0, MAX_SHOWN_CHARACTERS))}…`
  return JSON.stringify(value) ?? 'absent'
}
