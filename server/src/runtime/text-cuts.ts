/** Finds positions at which a text may be cut so that the tokens of its parts are the tokens of the whole. */

/** Characters searched backwards for a clean cut. A text without one has a long run, which is counted in steps anyway. */
const MAX_BACK = 256

/** The cut at or before `limit`: a clean one if possible, and never between the halves of a character. */
export function cutAt(text: string, limit: number): number {
  for (let at = limit; at > limit - MAX_BACK; at -= 1) if (isCleanCut(text, at)) return at
  return (text.charCodeAt(limit) & 0xfc00) === 0xdc00 ? limit - 1 : limit
}

/**
 * The tokenizer first splits a text into words, and never looks back: a run of letters ends before anything
 * else, up to three digits before anything else, and no word that ends in a sign continues with a space. A
 * part that begins at such a place therefore begins there in the whole text too. Beyond ASCII we don't look:
 * a mark may belong to the letter before it.
 */
export function isCleanCut(text: string, at: number): boolean {
  const [last, next] = [text.charCodeAt(at - 1), text.charCodeAt(at)]
  if (!(last < 0x80 && next < 0x80)) return false
  if (isLetter(last)) return !isLetter(next)
  if (isDigit(last)) return !isDigit(next)
  return next === 0x20 && !isSpace(last)
}

function isLetter(unit: number): boolean {
  return (unit >= 0x61 && unit <= 0x7a) || (unit >= 0x41 && unit <= 0x5a)
}

function isDigit(unit: number): boolean {
  return unit >= 0x30 && unit <= 0x39
}

function isSpace(unit: number): boolean {
  return unit === 0x20 || (unit >= 0x09 && unit <= 0x0d)
}
