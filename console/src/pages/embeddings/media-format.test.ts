import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formatOf, kindOf } from './media-format.ts'

const bytes = (text: string): Uint8Array => Uint8Array.from(text, (letter) => letter.codePointAt(0) ?? 0)

for (const [title, head, format] of [
  ['PNG', '\u0089PNG\r\n\u001A\n\0\0\0\rIHDR', 'png'],
  ['JPEG', '\u00FF\u00D8\u00FF\u00E0\0\u0010JFIF', 'jpeg'],
  ['WebP', 'RIFF\0\0\0\0WEBPVP8 ', 'webp'],
  ['GIF', 'GIF89a', 'gif'],
  ['HEIC', '\0\0\0\u0018ftypheic', 'heic'],
  ['AVIF', '\0\0\0\u0018ftypavif', 'avif'],
  ['WAV', 'RIFF\0\0\0\0WAVEfmt ', 'wav'],
  ['MP3 with a tag', 'ID3\u0004', 'mp3'],
  ['MP3 without one', '\u00FF\u00FB\u0090', 'mp3'],
  ['MP4', '\0\0\0\u0018ftypisom', 'mp4'],
  ['QuickTime', '\0\0\0\u0014ftypqt  ', 'mov'],
  ['PDF', '%PDF-1.7', 'pdf'],
  ['a text', 'hello', undefined],
  ['nothing', '', undefined],
] as const)
  test(`${title} is recognised by its first bytes`, () => assert.equal(formatOf(bytes(head)), format))

test('a format says what it holds', () => {
  assert.deepEqual((['png', 'mp3', 'mov', 'pdf'] as const).map(kindOf), ['image', 'audio', 'video', 'file'])
})
