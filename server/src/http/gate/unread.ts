/** Answers that are written while their request is still arriving. */
import type { IncomingMessage, ServerResponse } from 'node:http'

/** What clients have under way before they look for an answer: their own buffers, and those of the network. */
const MAX_UNREAD_BYTES = 8 * 1024 * 1024
const MAX_UNREAD_MS = 2000

/** Whether bytes of the request are still to come. A request without a body may not be complete yet either. */
export function isUnread({ complete, headers }: IncomingMessage): boolean {
  return (
    !complete && (headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0)
  )
}

/** To be called where the body begins to be read: a client that asked before it sends is told to go on. */
export function inviteBody({ headers, httpVersion }: IncomingMessage, response: ServerResponse): void {
  // The listener lets no other expectation through. HTTP/1.0 knows none.
  if (headers.expect !== undefined && httpVersion === '1.1') response.writeContinue()
}

/**
 * To be called in the same round of the event loop in which the answer is ended. When bytes arrive at a connection that is closed, the system
 * answers with a reset, and a client that is still sending would see that instead of the answer. So the connection is only
 * closed towards the client; what it sends is thrown away, for a while.
 */
export function endUnread(request: IncomingMessage, response: ServerResponse): void {
  const { socket } = request
  if (!isUnread(request) || socket.destroyed) return
  const cut = (): void => {
    socket.destroy()
  }
  const late = setTimeout(cut, MAX_UNREAD_MS)
  socket.once('close', () => clearTimeout(late))
  // Node closes the connection with this behind an answer that says `connection: close`. No other request is on it.
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
  // The connection went away: that is what was to happen anyway.
  request.on('error', () => {})
  request.resume()
}
