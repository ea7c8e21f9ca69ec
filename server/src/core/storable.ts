/** What a text from outside must be before it is stored, compared or named to someone. */

/** PostgreSQL takes no NUL, and UTF-8 has no form for half of a surrogate pair: it would be stored as another text. */
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
