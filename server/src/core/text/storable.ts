/** Requirements of a text from outside before it is stored, compared or shown. */

/** PostgreSQL accepts no NUL, and UTF-8 has no form for half of a surrogate pair: it would be stored as another text. */
export function isStorable(text: string): boolean {
  return !text.includes('\0') && text.isWellFormed()
}

/** A name for people: storable, and without control characters, which JSON writes in six bytes and terminals obey. */
export function isPlain(text: string): boolean {
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at)
    if (code < 32 || code === 127) return false
  }
  return text.isWellFormed()
}

interface Inside {
  readonly value: unknown
  readonly key: string | number
  readonly around: Inside | undefined
}

/** The path in a JSON value of a text, or a key, that is not storable: `metadata.a`, `names.3`. '': the value itself. */
export function unstorableIn(value: unknown): string | undefined {
  // A list instead of recursion: a value may be nested as deep as its text is long.
  const rest: Inside[] = [{ value, key: '', around: undefined }]
  for (let next = rest.pop(); next !== undefined; next = rest.pop()) {
    const { value: found } = next
    if (typeof found === 'string') {
      if (!isStorable(found)) return placeOf(next)
    } else if (Array.isArray(found))
      for (let key = 0; key < found.length; key += 1) rest.push({ value: found[key], key, around: next })
    else if (typeof found === 'object' && found !== null)
      for (const key of Object.keys(found)) {
        if (!isStorable(key)) return placeOf(next)
        rest.push({ value: (found as Readonly<Record<string, unknown>>)[key], key, around: next })
      }
  }
  return undefined
}

function placeOf(inside: Inside): string {
  const keys: (string | number)[] = []
  for (let at = inside; at.around !== undefined; at = at.around) keys.push(at.key)
  return keys.reverse().join('.')
}
