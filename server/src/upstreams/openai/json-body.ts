/** A JSON object that contains files as data URLs. They are encoded in base64 while they are read. */
import type { StreamedBody } from '../connect/sent-body.ts'
import { exactly, type SizedBytes } from '../connect/exact-bytes.ts'

/** Text is sent as it is; bytes become base64. */
export type JsonPart = string | SizedBytes

export function joinedBody(parts: readonly JsonPart[]): StreamedBody {
  let size = 0
  for (const part of parts)
    size += typeof part === 'string' ? Buffer.byteLength(part) : Math.ceil(part.size / 3) * 4
  return {
    size,
    async *open() {
      for (const part of parts) {
        if (typeof part === 'string') yield Buffer.from(part)
        else yield* base64Of(exactly(part))
      }
    },
  }
}

/** A multiple of three, so that no byte is left over; it becomes 64 KB, which does not hold up the event loop. */
const STEP_BYTES = 48 * 1024

/** Base64 has four characters for three bytes: an incomplete group waits for the next chunk. */
async function* base64Of(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void, void> {
  let left: Uint8Array = new Uint8Array()
  for await (const chunk of chunks) {
    for (let at = 0; at < chunk.length;) {
      const more = chunk.subarray(at, at + STEP_BYTES - left.length)
      const step = left.length === 0 ? more : Buffer.concat([left, more])
      at += more.length
      const end = step.length - (step.length % 3)
      if (end > 0) yield encoded(step.subarray(0, end))
      // Copied, so that two bytes do not keep their chunk alive.
      left = new Uint8Array(step.subarray(end))
    }
  }
  if (left.length > 0) yield encoded(left)
}

function encoded({ buffer, byteOffset, length }: Uint8Array): Uint8Array {
  return Buffer.from(Buffer.from(buffer, byteOffset, length).toString('base64'), 'latin1')
}
