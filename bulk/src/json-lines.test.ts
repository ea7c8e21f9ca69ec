import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { decodeText, linesIn, MAX_LINE_BYTES } from './json-lines.ts'

async function read(file: Uint8Array, chunkBytes: number): Promise<readonly (string | undefined)[]> {
  async function* chunks(): AsyncGenerator<Uint8Array> {
    for (let at = 0; at < file.length; at += chunkBytes) yield file.subarray(at, at + chunkBytes)
  }
  return Array.fromAsync(linesIn(decodeText(chunks())))
}

test('every line comes back as it was written, wherever the chunks are cut', async () => {
  const line = fc.string({ unit: fc.constantFrom('a', 'ü', '€', '"', ' '), maxLength: 6 })
  const lineBreak = fc.constantFrom('\n', '\r\n')
  await fc.assert(
    fc.asyncProperty(fc.array(line), lineBreak, fc.nat({ max: 8 }), async (lines, end, cut) => {
      const file = Buffer.from(lines.map((text) => text + end).join(''))
      assert.deepEqual(await read(file, cut + 1), lines)
      // The last line may have no line break.
      assert.deepEqual(await read(Buffer.concat([file, Buffer.from('last')]), cut + 1), [...lines, 'last'])
    }),
  )
})

test('a line over the limit is not kept, and the lines around it are', async () => {
  const file = Buffer.concat([
    Buffer.from('first\n'),
    Buffer.alloc(MAX_LINE_BYTES + 1, 'x'),
    Buffer.from('\nlast\n'),
  ])
  assert.deepEqual(await read(file, 1024 * 1024), ['first', undefined, 'last'])
})

test('bytes that are no text are refused, and a byte order mark is no part of the text', async () => {
  await assert.rejects(read(Uint8Array.of(0x61, 0xff, 0x0a), 2), /not text in UTF-8/)
  assert.deepEqual(await read(Buffer.from('\uFEFFfirst\nlast'), 1), ['first', 'last'])
})
