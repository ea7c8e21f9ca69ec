import { createHash } from 'node:crypto'
import type { Hashing } from '#ports/hashing.ts'
import { yieldLoop } from './event-loop.ts'

/** Takes part of a millisecond. */
const PORTION_BYTES = 256 * 1024

export const hashing: Hashing = {
  sha256OfText: (text) => createHash('sha256').update(text).digest('hex'),
  // Not in the thread pool: for that Node copies all of it, which takes as long.
  async sha256OfBytes(bytes) {
    const hash = createHash('sha256')
    for (let at = 0; at < bytes.length; at += PORTION_BYTES) {
      if (at > 0) await yieldLoop()
      hash.update(bytes.subarray(at, at + PORTION_BYTES))
    }
    return hash.digest('hex')
  },
}
