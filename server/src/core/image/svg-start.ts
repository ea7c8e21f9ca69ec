/** Whether a text begins like an SVG, after its declaration, comments and document type. */

/** Bytes in which an SVG must have begun. */
export const SVG_START_BYTES = 1024

/** `open` while the next bytes may make it one. */
export function svgStart(bytes: Uint8Array): 'svg' | 'other' | 'open' {
  let text = String.fromCharCode(...bytes.subarray(0, SVG_START_BYTES))
  const isFull = text.length === SVG_START_BYTES
  if (text.startsWith(BYTE_ORDER_MARK)) text = text.slice(3)
  else if (BYTE_ORDER_MARK.startsWith(text)) return 'open'
  for (;;) {
    text = text.trimStart()
    if (/^<svg[\s/>]/.test(text)) return 'svg'
    const end = endOfPrologue(text)
    if (end !== 'none' && end !== 'open') text = text.slice(end)
    else return end === 'open' && !isFull ? 'open' : 'other'
  }
}

const BYTE_ORDER_MARK = '\xef\xbb\xbf'
const PROLOGUES = [
  ['<?', '?>'],
  ['<!--', '-->'],
  ['<!DOCTYPE', '>'],
] as const

/** The end of the declaration, comment or document type with which the text begins. */
function endOfPrologue(text: string): number | 'none' | 'open' {
  for (const [start, end] of PROLOGUES) {
    if (start.startsWith(text)) return 'open'
    if (!text.startsWith(start)) continue
    const found = text.indexOf(end, start.length)
    return found === -1 ? 'open' : found + end.length
  }
  return '<svg'.startsWith(text) ? 'open' : 'none'
}
