/** The body of a request with a key. Projects share the memory for bodies. */
import type { Key } from '#ports/keys.ts'
import type { RateLimiter } from '#ports/limiter.ts'
import type { BodyRoom } from '../../gate/body-room.ts'
import type { BodyLimit } from '../../gate/bounds.ts'
import { receiveBody } from '../../gate/receive-body.ts'
import { countFirst } from './count-request.ts'
import type { Journey } from './journey.ts'

export interface ReadingBodyOutside {
  readonly bodyRoom: BodyRoom
  readonly limiter: RateLimiter
}

export function readBody(
  journey: Journey,
  key: Key,
  limit: BodyLimit,
  { bodyRoom, limiter }: ReadingBodyOutside,
): Promise<Buffer<ArrayBuffer>> {
  const sender = () => ({
    share: key.project,
    shownAs: `project '${key.project}'`,
    count: () => countFirst(journey, key, limiter),
    hold: (room: Disposable) => (journey.room = room),
  })
  // A refusal waits for the next turn of the event loop, in which the request is complete.
  return receiveBody(journey.request, journey.response, limit, bodyRoom, sender, false)
}
