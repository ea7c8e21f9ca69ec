import type { IncomingMessage } from 'node:http'
import { Fault } from '#core/fault.ts'

/** The whole body, or a fault once it is larger than allowed: what was announced too large is not read at all. */
export function readBody(request: IncomingMessage, maxBytes: number): Promise<Buffer> {
  const tooLarge = (): Fault =>
    new Fault(
      'body_too_large',
      `The body is larger than ${maxBytes} bytes. Send the inputs in several requests.`,
    )
  if (Number(request.headers['content-length'] ?? 0) > maxBytes) return Promise.reject(tooLarge())
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let bytes = 0
    request.on('data', (chunk: Buffer) => {
      bytes += chunk.length
      if (bytes > maxBytes) reject(tooLarge())
      else chunks.push(chunk)
    })
    request.on('end', () => resolve(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks)))
    request.on('error', () =>
      reject(new Fault('request_timeout', 'The request was cut off before its body had arrived.')),
    )
  })
}

export function parseJson(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'))
  } catch (error) {
    // The parser's own message quotes the text, which may be private.
    const position = /position (\d+)/.exec(error instanceof Error ? error.message : '')?.[1]
    const where = position === undefined ? '' : ` Parsing stopped at position ${position}.`
    throw new Fault('invalid_json', `The body is not JSON.${where} Send a JSON object.`)
  }
}
