import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { runs } from '#test/support/arbitraries.ts'
import { PartBytes } from './part-bytes.ts'

test('a part is its head and all that was written, however it grew', () => {
  const piece = fc.oneof(
    fc.string({ unit: 'grapheme-ascii' }),
    fc.uint8Array({ maxLength: 300_000 }),
    // So that it moves.
    fc.constant(new Uint8Array(9 * 1024 * 1024).fill(7)),
  )
  fc.assert(
    fc.property(fc.array(piece), (pieces) => {
      const part = new PartBytes()
      for (const one of pieces) part.write(one)
      const written = Buffer.concat(pieces.map((one) => Buffer.from(one)))
      assert.equal(part.size, written.length)
      assert.deepEqual(Buffer.from(part.behind('head\n')), Buffer.concat([Buffer.from('head\n'), written]))
      part.release()
    }),
    runs(50),
  )
})

test('a part that was released takes no memory, also before the garbage is collected', () => {
  const part = new PartBytes()
  part.write(new Uint8Array(1024 * 1024))
  const bytes = part.behind('head\n')
  part.release()
  assert.equal(bytes.length, 0)
})
