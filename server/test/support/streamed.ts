/** Bytes in parts of any size, as a disk or memory would return them. */
import fc from 'fast-check'

export function streamed(chunks: readonly Uint8Array[]): {
  readonly size: number
  open(): AsyncIterable<Uint8Array>
} {
  return {
    size: chunks.reduce((sum, { length }) => sum + length, 0),
    async *open() {
      for (const chunk of chunks) yield chunk
    },
  }
}

/** Mostly small ones, whose borders fall everywhere; occasionally one larger than any step. */
export const chunkedBytes: fc.Arbitrary<Uint8Array[]> = fc.array(
  fc.oneof(
    { weight: 20, arbitrary: fc.uint8Array({ maxLength: 20 }) },
    {
      weight: 1,
      arbitrary: fc.integer({ min: 49_000, max: 200_000 }).map((size) => new Uint8Array(size).fill(size)),
    },
  ),
  { maxLength: 8 },
)
