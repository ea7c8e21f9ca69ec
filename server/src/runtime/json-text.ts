/** Parses the bytes of a body, the same way for every kind of body. */
import { isUtf8 } from 'node:buffer'
import { exactFieldTexts, parseExactly } from '#core/text/exact-json.ts'
import { longBody } from '#core/media/lift.ts'
import { scanJson, withCountedNumbers, type JsonBounds } from '#core/text/json-bounds.ts'
import { isRecord } from '#core/text/record.ts'
import { notUtf8Message, withoutByteOrderMark } from '#core/text/utf8.ts'
import { JsonRefused } from '#ports/json.ts'

export interface JsonText {
  readonly value: unknown
  /** Texts of numbers by field name, which would not cross a thread unchanged. */
  readonly exactTexts: Readonly<Record<string, string>> | undefined
}

/** `known`: fields that Torana reads itself, whose numbers need no exact form. */
export function parsedText(sent: Buffer, bounds: JsonBounds, known: ReadonlySet<string>): JsonText {
  const bytes = withoutByteOrderMark(sent)
  if (!isUtf8(bytes)) throw new JsonRefused(notUtf8Message(bytes, isUtf8))
  const { excess, mayRound } = scanJson(bytes, bounds)
  if (excess !== undefined) throw new JsonRefused(excess)
  const { contents } = bounds
  if (contents !== undefined && bytes.length > contents.maxTextBytes) {
    // Only media may make it that long. Numbers are parsed into much more memory than they take here.
    const { excess: tooMany } = scanJson(bytes, withCountedNumbers(bounds))
    if (tooMany !== undefined) throw longBody(contents.maxTextBytes)
  }
  const value: unknown = JSON.parse(bytes.toString('utf8'))
  return { value, exactTexts: mayRound && isRecord(value) ? exactTextsIn(bytes, known) : undefined }
}

/** Characters parsed again on the event loop: as much as a body that is parsed there whole. */
const MAX_EXACT_CHARACTERS = 1024 * 1024

function exactTextsIn(bytes: Buffer, known: ReadonlySet<string>): JsonText['exactTexts'] {
  const texts = exactFieldTexts(bytes, known, (start, end) => bytes.toString('utf8', start, end)) ?? {}
  // There is time for a closer look here: a text may contain digits too.
  const changed = Object.entries(texts).filter(([, text]) => changes(text))
  if (changed.length === 0) return undefined
  if (changed.reduce((sum, [, text]) => sum + text.length, 0) > MAX_EXACT_CHARACTERS)
    throw new JsonRefused(
      `Its fields with numbers such as 1.0 or of more than 15 digits have more than ${MAX_EXACT_CHARACTERS} characters.`,
    )
  return Object.fromEntries(changed)
}

/** Whether JavaScript would write one of its numbers differently. */
function changes(text: string): boolean {
  return JSON.stringify(parseExactly(text)) !== JSON.stringify(JSON.parse(text))
}
