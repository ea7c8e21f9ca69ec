/**
 * Bytes that never became a request: too slow, too long, or not HTTP. They are answered like any other fault, then the connection is
 * cut.
 */
import { STATUS_CODES, type IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { Fault } from '#core/fault/fault.ts'
import { answerOn } from './connections.ts'
import { faultBody, faultHeaders } from './faults.ts'

export const NOT_ONE_HOST = 'TORANA_NOT_ONE_HOST'

/**
 * RFC 9112, 3.2: two hosts are an error, since a proxy before us may have used the other one. Node takes the first. A missing host is
 * an error too, except in HTTP/1.0.
 */
export function hasOneHost({ rawHeaders, httpVersion }: IncomingMessage): boolean {
  let hosts = 0
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] as string
    if (name.length === 4 && name.toLowerCase() === 'host') hosts += 1
  }
  return hosts === 1 || (hosts === 0 && httpVersion === '1.0')
}

/** Undefined when the client is gone. */
export function answerUnreadable(
  error: { readonly code?: string },
  socket: Socket,
  requestId: string,
  docsUrl: string,
): Fault | undefined {
  // Text in the middle of an answer would be taken for a part of it.
  if (error.code === 'ECONNRESET' || !socket.writable || answerOn(socket)?.headersSent) {
    socket.destroy()
    return undefined
  }
  const fault = faultOf(error.code)
  const { status } = fault.entry
  const body = faultBody(fault, requestId, docsUrl)
  const headers = {
    ...faultHeaders(fault, requestId),
    'content-length': String(Buffer.byteLength(body)),
    connection: 'close',
  }
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${body}`)
  return fault
}

function faultOf(code: string | undefined): Fault {
  switch (code) {
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return new Fault('request_timeout', 'The client did not send the whole request in time. Send it again.')
    case 'HPE_HEADER_OVERFLOW':
      return new Fault('headers_too_large', 'The headers are larger than 16 KB. Send shorter ones.')
    case NOT_ONE_HOST:
      return new Fault('malformed_request', 'The request has no Host header, or more than one. Send one.')
    default:
      return new Fault(
        'malformed_request',
        'The bytes that arrived are not an HTTP request. Does the client use https:// on a plain HTTP port, or is a proxy in between?',
      )
  }
}
