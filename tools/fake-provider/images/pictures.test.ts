import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import sharp from 'sharp'
import { drawn } from './draw.ts'
import type { Format } from './encode.ts'
import { encoded, filled } from './encode.ts'
import { glyphHeight, glyphOf, glyphWidth } from './font.ts'

const formats: Format[] = ['png', 'jpeg', 'webp']
const drawing = {
  prompt: 'a lighthouse at night',
  number: 1,
  of: 2,
  serial: 1,
  width: 160,
  height: 120,
  transparent: false,
  preview: null,
}

describe('a drawn picture', () => {
  it('is the same for the same prompt, number and serial, and another for any other', () => {
    assert.deepEqual(drawn(drawing), drawn(drawing))
    const others = [
      { prompt: 'a lighthouse by day' },
      { number: 2 },
      { of: 3 },
      { serial: 2 },
      { preview: 1 },
    ]
    for (const other of others) assert.notDeepEqual(drawn({ ...drawing, ...other }), drawn(drawing))
  })

  it('can be drawn of any text in any size', () => {
    const edge = fc.integer({ min: 1, max: 200 })
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 300 }), edge, edge, (prompt, width, height) => {
        assert.equal(drawn({ ...drawing, prompt, width, height }).length, width * height * 4)
      }),
      { numRuns: 200 },
    )
  })

  it('has a glyph of its own for every printable character', () => {
    const characters = Array.from({ length: 95 }, (_, index) => String.fromCodePoint(32 + index))
    const shapes = characters.map((character) => glyphOf(character))
    for (const rows of shapes) {
      assert.equal(rows.length, glyphHeight)
      assert.ok(rows.every((row) => row >= 0 && row < 2 ** glyphWidth))
    }
    assert.equal(new Set(shapes.map((rows) => rows.join(' '))).size, 95)
  })

  it('is transparent but for its lines when that is asked for', async () => {
    const share = async (transparent: boolean, format: Format) => {
      const bytes = await encoded(drawn({ ...drawing, transparent }), { ...drawing, format, quality: 100 })
      const { channels } = await sharp(bytes).stats()
      return channels[3]?.mean ?? 255
    }
    assert.equal(await share(false, 'png'), 255)
    for (const format of ['png', 'webp'] as const) {
      const mean = await share(true, format)
      assert.ok(mean > 10 && mean < 128, `${format}: ${mean}`)
    }
  })
})

describe('a picture filled up to a number of bytes', () => {
  for (const format of formats) {
    for (const transparent of [false, true]) {
      it(`${format}${transparent ? ', transparent' : ''}: has them, and the same pixels`, async () => {
        const plain = await encoded(drawn({ ...drawing, transparent }), { ...drawing, format, quality: 80 })
        const pixels = await sharp(plain).raw().toBuffer()
        for (const bytes of [plain.length + 1, plain.length + 2, 200_000, 3_000_001]) {
          const large = filled(plain, format, bytes)
          assert.ok(large.length >= bytes && large.length < bytes + 1000)
          const metadata = await sharp(large).metadata()
          assert.deepEqual([metadata.format, metadata.width, metadata.height], [format, 160, 120])
          assert.deepEqual(await sharp(large).raw().toBuffer(), pixels)
        }
        assert.equal(filled(plain, format, plain.length), plain)
      })
    }
  }
})
