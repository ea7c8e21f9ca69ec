/** The bytes of a body as they are parsed, the same for every kind of body. */
import { isUtf8 } from 'node:buffer'
import { exactFieldTexts } from '#core/exact-json.ts'
import { scanJson, type JsonBounds } from '#core/json-bounds.ts'
import { isRecord } from '#core/record.ts'
import { notUtf8Message, withoutByteOrderMark } from '#core/utf8.ts'
import { JsonRefused } from '#ports/json.ts'

export interface JsonText {
  readonly value: unknown
  /** By name. Values of this kind would not arrive on the other side of a thread as they are. */
  readonly exactTexts: Readonly<Record<string, string>> | undefined
}

/** `known`: fields that Torana reads itself, whose numbers need no exact form. */
export function parsedText(sent: Buffer, bounds: JsonBounds, known: ReadonlySet<string>): JsonText {
  const bytes = withoutByteOrderMark(sent)
  if (!isUtf8(bytes)) throw new JsonRefused(notUtf8Message(bytes, isUtf8))
  const { excess, mayRound } = scanJson(bytes, bounds)
  if (excess !== undefined) throw new JsonRefused(excess)
  const value: unknown = JSON.parse(bytes.toString('utf8'))
  const textOf = (start: number, end: number): string => bytes.toString('utf8', start, end)
  return {
    value,
    exactTexts: mayRound && isRecord(value) ? exactFieldTexts(bytes, known, textOf) : undefined,
  }
}
