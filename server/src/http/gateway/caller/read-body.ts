import type { IncomingMessage } from 'node:http'
import { Fault } from '#core/fault/fault.ts'
import { boundsOf, excessIn, type JsonBounds } from '#core/json-bounds.ts'
import { JsonRefused, type LargeJson } from '#ports/json.ts'
import type { Asker } from '#ports/asker.ts'

/** The whole body, or a fault once it is larger than allowed: what was announced too large is not read at all. */
export function readBody(
  request: IncomingMessage,
  maxBytes: number,
  advice = 'Send the inputs in several requests.',
): Promise<Buffer<ArrayBuffer>> {
  const tooLarge = (): Fault =>
    new Fault('body_too_large', `The body is larger than ${maxBytes} bytes. ${advice}`)
  if (Number(request.headers['content-length'] ?? 0) > maxBytes) return Promise.reject(tooLarge())
  return new Promise((resolve, reject) => {
    const chunks: Buffer<ArrayBuffer>[] = []
    let bytes = 0
    request.on('data', (chunk: Buffer<ArrayBuffer>) => {
      bytes += chunk.length
      if (bytes > maxBytes) reject(tooLarge())
      else chunks.push(chunk)
    })
    request.on('end', () =>
      resolve(chunks.length === 1 ? (chunks[0] as Buffer<ArrayBuffer>) : Buffer.concat(chunks)),
    )
    request.on('error', () =>
      reject(new Fault('request_timeout', 'The connection ended before the whole body arrived.')),
    )
  })
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
): unknown {
  if (body.length > LARGE_BYTES) return json.parse(body, bounds, asker).catch(refuseJson)
  const excess = excessIn(body, bounds)
  if (excess !== undefined) return refuseJson(new JsonRefused(excess))
  try {
    return JSON.parse(body.toString('utf8'))
  } catch (error) {
    return refuseJson(error)
  }
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
