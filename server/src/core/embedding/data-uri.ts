/**
 * Detects strings that are as a whole an image, a sound, a film or a PDF: embedded as text, their vector would mean
 * nothing, and no client would notice.
 */

const MEDIA = /^data:(?:(image|audio|video)\/|application\/pdf[;,])/i
const HEAD = /^[\w.+-]+\/[\w.+-]+(?:\s?;\s?[\w.+-]+(?:=[^\s;,]*)?)*$/
/** Longest text before the comma: media type and parameters. Real ones have less than fifty characters; a longer one is prose. */
const MAX_HEAD_CHARACTERS = 200
/** Characters outside of base64, in either alphabet, also where it is wrapped into lines or percent-encoded. */
const NOT_BASE64 = /[^\w+/=%\r\n-]/

const CAPITAL_D = 68
const SMALL_D = 100
const COLON = 58
const SPACE = 32

/**
 * The media type of the data URI. Undefined unless the whole text is one. A comparison or two for nearly every text: this
 * is the hot lane.
 */
export function mediaInDataUri(text: string): string | undefined {
  const first = text.charCodeAt(0)
  if (first <= SPACE) return mediaIn(text.trimStart())
  const mayBegin = (first === SMALL_D || first === CAPITAL_D) && text.charCodeAt(4) === COLON
  return mayBegin ? mediaIn(text) : undefined
}

function mediaIn(text: string): string | undefined {
  const found = MEDIA.exec(text)
  if (found === null) return undefined
  const comma = text.slice(0, MAX_HEAD_CHARACTERS).indexOf(',')
  const head = text.slice('data:'.length, comma)
  if (comma === -1 || !HEAD.test(head)) return undefined
  const content = text.slice(comma + 1).trimEnd()
  const isWhole = /;\s?base64$/i.test(head) ? !NOT_BASE64.test(content) : !/\s/.test(content)
  return isWhole ? (found[1]?.toLowerCase() ?? 'pdf') : undefined
}
