/** The whole body of a request, within the bounds of its route. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { ArrivingBody, tooLarge, type BodySender } from './arriving-body.ts'
import type { BodyRoom } from './body-room.ts'
import type { BodyLimit } from './bounds.ts'
import { inviteBody } from './unread.ts'

/** A body that is announced too large is not read at all. `senderOf` is called only for a body that has not arrived yet. */
export async function receiveBody(
  request: IncomingMessage,
  response: ServerResponse,
  limit: BodyLimit,
  bodyRoom: BodyRoom,
  senderOf: () => BodySender,
): Promise<Buffer<ArrayBuffer>> {
  const announcedBytes = Number(request.headers['content-length'] ?? 0)
  if (announcedBytes > limit.maxBytes) throw tooLarge(limit)
  inviteBody(request, response)
  // After this, the bytes that came together with the headers are parsed.
  await Promise.resolve()
  const atHand = bodyAtHand(request, announcedBytes)
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
function bodyAtHand(request: IncomingMessage, announcedBytes: number): Buffer<ArrayBuffer> | undefined {
  if (!request.complete || announcedBytes === 0 || request.readableLength !== announcedBytes) return undefined
  // By its length: without one, a read returns the first of several buffers.
  return request.read(announcedBytes) as Buffer<ArrayBuffer>
}
