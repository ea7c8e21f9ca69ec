/** The whole body of a request, within the bounds of its route. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { ArrivingBody, tooLarge, type BodySender } from './arriving-body.ts'
import type { BodyRoom } from './body-room.ts'
import type { BodyLimit } from './bounds.ts'
import { inviteBody } from './unread.ts'

/**
 * A body that is announced too large is not read at all. `senderOf` is called only for a body that has not arrived yet.
 * `isEndAwaited`: whether the request is complete before its body is returned. A caller who does not wait for that must not write
 * an answer in the same turn of the event loop: it would close the connection.
 */
export async function receiveBody(
  request: IncomingMessage,
  response: ServerResponse,
  limit: BodyLimit,
  bodyRoom: BodyRoom,
  senderOf: () => BodySender,
  isEndAwaited = true,
): Promise<Buffer<ArrayBuffer>> {
  const announcedBytes = Number(request.headers['content-length'] ?? 0)
  if (announcedBytes > limit.maxBytes) throw tooLarge(limit)
  inviteBody(request, response)
  // After this, the bytes that came together with the headers are parsed.
  await Promise.resolve()
  const atHand = bodyAtHand(request, announcedBytes, isEndAwaited)
  if (atHand !== undefined) return atHand
  return new Promise((resolve, reject) => {
    // Ends by itself: with the body, or with a fault.
    void new ArrivingBody(request, senderOf(), limit, bodyRoom, resolve, reject)
  })
}

/**
 * The body that came whole with its headers, as nearly every body does: it is taken without waiting for events. Undefined if more is
 * to come.
 */
function bodyAtHand(
  request: IncomingMessage,
  announcedBytes: number,
  isEndAwaited: boolean,
): Buffer<ArrayBuffer> | undefined {
  if (announcedBytes === 0 || request.readableLength !== announcedBytes) return undefined
  if (isEndAwaited && !request.complete) return undefined
  // By its length: without one, a read returns the first of several buffers.
  const body = request.read(announcedBytes) as Buffer<ArrayBuffer>
  // Node parses the end of the request after this, and it is then read too.
  if (!request.complete) request.resume()
  return body
}
