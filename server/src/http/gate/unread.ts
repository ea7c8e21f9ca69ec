/** Answers that are written while their request is still arriving. */
import type { IncomingMessage, ServerResponse } from 'node:http'

/** What clients send before they look for an answer: their own buffers, and those of the network. */
const MAX_UNREAD_BYTES = 8 * 1024 * 1024
const MAX_UNREAD_MS = 2000

/** Whether bytes of the request are still to come. A request without a body may be incomplete too. */
export function isUnread({ complete, headers }: IncomingMessage): boolean {
  return (
    !complete && (headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0)
  )
}

/** To be called when the body begins to be read: answers `Expect: 100-continue`. */
export function inviteBody({ headers, httpVersion }: IncomingMessage, response: ServerResponse): void {
  // The listener lets no other expectation through. HTTP/1.0 has none.
  if (headers.expect !== undefined && httpVersion === '1.1') response.writeContinue()
}

/**
 * To be called in the same turn of the event loop in which the answer ends. When bytes arrive at a closed connection, the system
 * answers with a reset, and a client that is still sending would see that instead of the answer. So the connection is closed only
 * towards the client; what the client sends is discarded for a while.
 */
export function endUnread(request: IncomingMessage, response: ServerResponse): void {
  const { socket } = request
  if (!isUnread(request) || socket.destroyed) return
  const cut = (): void => {
    socket.destroy()
  }
  const late = setTimeout(cut, MAX_UNREAD_MS)
  socket.once('close', () => clearTimeout(late))
  // Node calls this to close the connection after an answer with `connection: close`. No other request is on it.
  socket.destroySoon = () => socket.end()

  let bytes = 0
  request.on('data', (chunk: Buffer) => {
    bytes += chunk.length
    if (bytes > MAX_UNREAD_BYTES) cut()
  })
  request.once('end', () => {
    if (response.writableFinished) cut()
    else response.once('finish', cut)
  })
  // The connection was lost, and it was about to be closed.
  request.on('error', () => {})
  request.resume()
}
