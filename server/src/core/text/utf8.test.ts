import assert from 'node:assert/strict'
import { isUtf8 } from 'node:buffer'
import { test } from 'node:test'
import fc from 'fast-check'
import { notUtf8Message, withoutByteOrderMark } from './utf8.ts'

const placeOf = (bytes: Uint8Array): number =>
  Number(/position (\d+)/.exec(notUtf8Message(bytes, isUtf8))?.[1])

test('the place is that of the first byte that begins no character', () => {
  assert.equal(placeOf(Uint8Array.of(0xe9)), 0)
  assert.equal(placeOf(Buffer.from('caf\xe9 au lait', 'latin1')), 3)
  assert.equal(placeOf(Buffer.from([...Buffer.from('aä😀'), 0xc3])), 7)
  fc.assert(
    fc.property(
      fc.string({ unit: 'binary' }).map((text) => Buffer.from(text.toWellFormed())),
      fc.constantFrom([0xff], [0xc3, 0x28], [0xed, 0xa0, 0x80], [0xf0, 0x9f, 0x98]),
      fc.string({ unit: 'grapheme-ascii' }),
      (before, bad, after) => {
        assert.equal(placeOf(Buffer.concat([before, Buffer.from(bad), Buffer.from(after)])), before.length)
      },
    ),
  )
})

test('a byte order mark is left out, once and only at the beginning', () => {
  const mark = '\ufeff'
  assert.equal(withoutByteOrderMark(Buffer.from(`${mark}{}`)).toString(), '{}')
  assert.equal(withoutByteOrderMark(Buffer.from(`${mark}${mark}{}`)).toString(), `${mark}{}`)
  for (const text of ['{}', '', ` ${mark}`])
    assert.equal(withoutByteOrderMark(Buffer.from(text)).toString(), text)
})
