import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { PartBytes } from './part-bytes.ts'

test('a part is its head and all that was written, however it grew and whatever its bytes held before', () => {
  const piece = fc.oneof(fc.string({ unit: 'grapheme-ascii' }), fc.uint8Array({ maxLength: 300_000 }))
  fc.assert(
    fc.property(fc.array(piece), fc.nat(3_000_000), (pieces, expected) => {
      const part = new PartBytes()
      part.expect(expected)
      for (const one of pieces) part.write(one)
      const written = Buffer.concat(pieces.map((one) => Buffer.from(one)))
      assert.equal(part.size, written.length)
      assert.deepEqual(Buffer.from(part.behind('head\n')), Buffer.concat([Buffer.from('head\n'), written]))
      part.release()
    }),
    { numRuns: 50 },
  )
})
