/** How answers are written, whatever they hold: text that fits into headers, JSON in ASCII, a pace that the client can read. */
import type { ServerResponse } from 'node:http'
import { asciiJson } from '#core/json-text.ts'

/** Clients give up on headers of many kilobytes, and a caller can choose some of the names in them. */
const MAX_HEADER_LENGTH = 1024

/** Header values are ASCII. Names from a configuration or a request may hold other characters. */
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
 * Writes pieces of ASCII text as fast as the client reads them, and stops when the client has left. Does not end the answer.
 * Resolves to how many bytes were written.
 */
export async function writePieces(response: ServerResponse, pieces: AsyncIterable<string>): Promise<number> {
  let bytes = 0
  for await (const piece of pieces) {
    if (response.destroyed) return bytes
    bytes += piece.length
    if (!response.write(piece, 'latin1')) await drained(response)
  }
  return bytes
}

/** A small answer, whole. */
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
