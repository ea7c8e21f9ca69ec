import { isUtf8 } from 'node:buffer'
import type { IncomingMessage } from 'node:http'
import { exactFields, exactFieldTexts } from '#core/exact-json.ts'
import { Fault } from '#core/fault/fault.ts'
import { boundsOf, scanJson, type JsonBounds } from '#core/json-bounds.ts'
import { isRecord } from '#core/record.ts'
import { notUtf8Message, withoutByteOrderMark } from '#core/utf8.ts'
import { JsonRefused, type LargeJson, type ParsedJson } from '#ports/json.ts'
import type { Asker } from '#ports/asker.ts'
import type { Key } from '#ports/keys.ts'
import { ArrivingBody, tooLarge, type BodyLimit, type ReadingBodyOutside } from './arriving-body.ts'
import type { Journey } from './journey.ts'
import { inviteBody } from './unread.ts'

/** The whole body, or a fault once it is larger than allowed: what was announced too large is not read at all. */
export async function readBody(
  journey: Journey,
  key: Key,
  limit: BodyLimit,
  outside: ReadingBodyOutside,
): Promise<Buffer<ArrayBuffer>> {
  const { request, response } = journey
  const announcedBytes = Number(request.headers['content-length'] ?? 0)
  if (announcedBytes > limit.maxBytes) throw tooLarge(limit)
  inviteBody(request, response)
  // By then, what came together with the headers is parsed.
  await Promise.resolve()
  const atHand = bodyAtHand(request, announcedBytes)
  if (atHand !== undefined) return atHand
  return new Promise((resolve, reject) => {
    // It ends by itself: with the body, or with a fault.
    void new ArrivingBody(journey, key, limit, outside, resolve, reject)
  })
}

/** Nearly every body came with its headers, whole: it is taken without waiting for events. Undefined: there is more to come. */
function bodyAtHand(request: IncomingMessage, announcedBytes: number): Buffer<ArrayBuffer> | undefined {
  if (!request.complete || announcedBytes === 0 || request.readableLength !== announcedBytes) return undefined
  return request.read() as Buffer<ArrayBuffer>
}

/** Checking and parsing this much takes a few milliseconds; more goes to a thread of its own. */
const LARGE_BYTES = 1024 * 1024

const SMALL_VALUES = boundsOf(undefined)

/** The body's JSON, at once unless it is large. What holds more than a request may hold is refused before it is parsed. */
export function parseBody(
  body: Buffer<ArrayBuffer>,
  json: LargeJson,
  asker: Asker,
  bounds: JsonBounds = SMALL_VALUES,
): ParsedJson | Promise<ParsedJson> {
  if (body.length > LARGE_BYTES) return json.parse(body, bounds, asker).catch(refuseJson)
  const bytes = withoutByteOrderMark(body)
  if (!isUtf8(bytes)) return refuseJson(new JsonRefused(notUtf8Message(bytes, isUtf8)))
  const { excess, mayRound } = scanJson(bytes, bounds)
  if (excess !== undefined) return refuseJson(new JsonRefused(excess))
  try {
    const value: unknown = JSON.parse(bytes.toString('utf8'))
    return { value, exact: mayRound && isRecord(value) ? exactIn(bytes) : undefined }
  } catch (error) {
    return refuseJson(error)
  }
}

const INPUT: ReadonlySet<string> = new Set(['input'])

function exactIn(bytes: Buffer): ParsedJson['exact'] {
  return exactFields(exactFieldTexts(bytes, INPUT, (start, end) => bytes.toString('utf8', start, end)))
}

/** The parser's own message quotes the text, which may be private: only the position is passed on. */
export function refuseJson(error: unknown): never {
  if (!(error instanceof SyntaxError)) throw error
  if (error instanceof JsonRefused)
    throw new Fault('invalid_json', `The body is not accepted. ${error.message}`)
  const position = /position (\d+)/.exec(error.message)?.[1]
  const where = position === undefined ? '' : ` Parsing stopped at position ${position}.`
  throw new Fault('invalid_json', `The body is not JSON.${where} Send a JSON object.`)
}
