import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import fc from 'fast-check'
import { PictureBytes } from './picture-bytes.ts'

test('bytes come out as they went in, however many were expected', () => {
  const sizes = fc.array(fc.nat({ max: 200_000 }), { maxLength: 12 })
  fc.assert(
    fc.property(sizes, fc.nat({ max: 2_000_000 }), (pieces, expected) => {
      const picture = new PictureBytes(expected)
      const all = pieces.map((size) => randomBytes(size))
      for (const piece of all) picture.add(piece)
      assert.ok(Buffer.concat(all).equals(picture.whole()))
    }),
  )
})

test('an upstream that announces more than any picture has gets no such memory', () => {
  const picture = new PictureBytes(2 ** 40)
  picture.add(Uint8Array.of(1))
  assert.ok(picture.whole().buffer.byteLength < 2 ** 25)
})

test('memory that is given back is gone at once', () => {
  const picture = new PictureBytes()
  picture.add(Uint8Array.of(1, 2, 3))
  const bytes = picture.whole()
  picture.discard()
  assert.equal(bytes.length, 0)
})
