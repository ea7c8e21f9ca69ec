import { createHash } from 'node:crypto'
import type { Hashing } from '#ports/hashing.ts'
import { yieldLoop } from './event-loop.ts'

/** Bytes hashed in one step: part of a millisecond. */
const STEP_BYTES = 256 * 1024

export const hashing: Hashing = {
  sha256OfText: (text) => createHash('sha256').update(text).digest('hex'),
  // Not in the thread pool: Node would copy all bytes for it, which takes as long.
  async sha256OfBytes(bytes) {
    const hash = createHash('sha256')
    for (let at = 0; at < bytes.length; at += STEP_BYTES) {
      if (at > 0) await yieldLoop()
      hash.update(bytes.subarray(at, at + STEP_BYTES))
    }
    return hash.digest('hex')
  },
}
