/** Text that is not UTF-8 is refused: a decoder would silently replace characters. */

/** A mark that some editors and clients put before a text. JSON forbids it, and allows readers to skip it. */
const MARK = [0xef, 0xbb, 0xbf] as const

export function withoutByteOrderMark<Bytes extends Uint8Array>(bytes: Bytes): Bytes {
  if (bytes[0] !== MARK[0] || bytes[1] !== MARK[1] || bytes[2] !== MARK[2]) return bytes
  return bytes.subarray(MARK.length) as Bytes
}

/**
 * The position of the first half of a surrogate pair, as a sentence. UTF-8 has no form for it: it would be sent as U+FFFD, another
 * character. The text is not well-formed.
 */
export function halfCharacterMessage(text: string): string {
  // A regular expression with this flag reads pairs whole, so that only a half matches.
  const at = text.search(/\p{Surrogate}/u)
  const words = at === text.length - 1 ? 'ends inside a character' : 'has half a character'
  return `${words} at position ${at.toLocaleString('en-US')}: a surrogate (U+${text.charCodeAt(at).toString(16).toUpperCase()}) without its other half. Cut texts between characters.`
}

/** Bytes of an incomplete character at the end of a part: a character has up to four. */
const MAX_CUT_BYTES = 3

/** The position of the first invalid bytes, as a sentence. The bytes are not UTF-8. */
export function notUtf8Message(bytes: Uint8Array, isUtf8: (part: Uint8Array) => boolean): string {
  const validBefore = (end: number): number | undefined => {
    for (let start = end; start >= Math.max(0, end - MAX_CUT_BYTES); start -= 1)
      if (isUtf8(bytes.subarray(0, start))) return start
    return undefined
  }
  let valid = 0
  let [low, high] = [0, bytes.length]
  while (low <= high) {
    const middle = (low + high) >> 1
    const found = validBefore(middle)
    if (found === undefined) high = middle - 1
    else {
      valid = Math.max(valid, found)
      low = middle + 1
    }
  }
  return `It is not UTF-8 text: the bytes from position ${valid} on are no character.`
}
