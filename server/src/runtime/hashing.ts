import { createHash } from 'node:crypto'
import { yieldLoop } from './event-loop.ts'

/** Bytes hashed in one step: part of a millisecond. */
const STEP_BYTES = 256 * 1024

export type Hashing = typeof hashing

export const hashing = {
  /** Lower-case hexadecimal SHA-256 of a text. */
  sha256OfText: (text: string): string => createHash('sha256').update(text).digest('hex'),
  /**
   * The same of bytes, hashed in parts that leave the event loop to others: an image may have tens of megabytes. Not in the
   * thread pool: Node would copy all bytes for it, which takes as long.
   */
  async sha256OfBytes(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
    const hash = createHash('sha256')
    for (let at = 0; at < bytes.length; at += STEP_BYTES) {
      if (at > 0) await yieldLoop()
      hash.update(bytes.subarray(at, at + STEP_BYTES))
    }
    return hash.digest('hex')
  },
}
