/** A JSON body, checked against its bounds before it is parsed. */
import { isUtf8 } from 'node:buffer'
import { exactFields, exactFieldTexts } from '#core/text/exact-json.ts'
import { Fault } from '#core/fault/fault.ts'
import { inputFields, liftMedia } from '#core/media/lift.ts'
import { boundsOf, scanJson, type JsonBounds } from '#core/text/json-bounds.ts'
import { isRecord } from '#core/text/record.ts'
import { notUtf8Message, withoutByteOrderMark } from '#core/text/utf8.ts'
import { JsonRefused, JsonTooLong, type LargeJson, type ParsedJson } from '#ports/json.ts'
import type { Asker } from '#ports/asker.ts'

/** Size up to which checking and parsing take a few milliseconds; larger bodies go to a thread of their own. */
const LARGE_BYTES = 1024 * 1024

const SMALL_VALUES = boundsOf(undefined)

/** The body's JSON, at once unless it is large. A body that holds more than a request may hold is refused before it is parsed. */
export function parseBody(
  body: Buffer<ArrayBuffer>,
  json: LargeJson,
  asker: Asker,
  bounds: JsonBounds = SMALL_VALUES,
): ParsedJson | Promise<ParsedJson> {
  if (body.length > LARGE_BYTES) return json.parse(body, bounds, asker).catch(refuseJson)
  return parseJson(body, bounds)
}

/** A part of larger bytes, as `parseBody` takes it: the bytes of a large body are transferred, so they are copied. */
export function ownBuffer(bytes: Uint8Array): Buffer<ArrayBuffer> {
  const own = (bytes.length > LARGE_BYTES ? bytes.slice() : bytes) as Uint8Array<ArrayBuffer>
  return Buffer.from(own.buffer, own.byteOffset, own.length)
}

/** The JSON of a body of at most a megabyte. */
export function parseJson(body: Buffer<ArrayBuffer>, bounds: JsonBounds = SMALL_VALUES): ParsedJson {
  const bytes = withoutByteOrderMark(body)
  if (!isUtf8(bytes)) return refuseJson(new JsonRefused(notUtf8Message(bytes, isUtf8)))
  const { excess, mayRound } = scanJson(bytes, bounds)
  if (excess !== undefined) return refuseJson(new JsonRefused(excess))
  try {
    const value: unknown = JSON.parse(bytes.toString('utf8'))
    const exact = mayRound && isRecord(value) ? exactIn(bytes, bounds) : undefined
    const { contents } = bounds
    return contents === undefined
      ? { value, exact }
      : { value, exact, media: liftMedia(value, body.length, contents) }
  } catch (error) {
    return refuseJson(error)
  }
}

function exactIn(bytes: Buffer, bounds: JsonBounds): ParsedJson['exact'] {
  return exactFields(
    exactFieldTexts(bytes, inputFields(bounds), (start, end) => bytes.toString('utf8', start, end)),
  )
}

/** The parser's own message quotes the text, which may be private, so only the position is passed on. */
export function refuseJson(error: unknown): never {
  if (!(error instanceof SyntaxError)) throw error
  if (error instanceof JsonTooLong) throw new Fault('body_too_large', error.message)
  if (error instanceof JsonRefused)
    throw new Fault('invalid_json', `The body is not accepted. ${error.message}`)
  const position = /position (\d+)/.exec(error.message)?.[1]
  const where = position === undefined ? '' : ` Parsing stopped at position ${position}.`
  throw new Fault('invalid_json', `The body is not JSON.${where} Send a JSON object.`)
}
