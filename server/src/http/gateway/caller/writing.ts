/** Writes answers of every kind: header texts, JSON in ASCII, at the pace of the client. */
import type { ServerResponse } from 'node:http'
import { asciiJson } from '#core/text/json-text.ts'

/** Longest text in a header: clients reject headers of many kilobytes, and callers choose some of the names in them. */
const MAX_HEADER_LENGTH = 1024

/** Header values are ASCII. Names from a configuration or a request may contain other characters. */
export function headerText(text: string): string {
  const short = text.length > MAX_HEADER_LENGTH ? `${text.slice(0, MAX_HEADER_LENGTH)}...` : text
  return /^[\x20-\x7e]*$/.test(short) ? short : encodeURI(short.toWellFormed())
}

/** Resolves when the client has read what was written, or has left. */
export function drained(response: ServerResponse): Promise<void> {
  if (response.destroyed) return Promise.resolve()
  return new Promise((resolve) => {
    const done = (): void => {
      response.off('drain', done)
      response.off('close', done)
      resolve()
    }
    response.on('drain', done)
    response.on('close', done)
  })
}

/**
 * Writes parts of ASCII text as fast as the client reads them, and stops when the client has left. It does not end the answer.
 * Resolves to the number of bytes written.
 */
export async function writeParts(response: ServerResponse, parts: AsyncIterable<string>): Promise<number> {
  let bytes = 0
  for await (const part of parts) {
    if (response.destroyed) return bytes
    bytes += part.length
    if (!response.write(part, 'latin1')) await drained(response)
  }
  return bytes
}

/** Writes a small answer as a whole. */
export function writeJson(response: ServerResponse, answer: object, requestId: string): void {
  const text = asciiJson(answer)
  response.writeHead(200, {
    'content-type': 'application/json; charset=utf-8',
    'content-length': String(text.length),
    'cache-control': 'no-store',
    'x-request-id': requestId,
  })
  response.end(text, 'latin1')
}
