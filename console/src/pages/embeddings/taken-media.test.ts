import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inputRefusal, mediaRefusal, type MediaFacts, type TakenMedia } from './taken-media.ts'

const TAKEN: TakenMedia = {
  inputs: ['text', 'image'],
  fuses: true,
  formats: ['png', 'jpeg', 'mp3'],
  max_parts: 2,
  max_part_bytes: 1_048_576,
  max_pixels: 1_000_000,
  max_images: null,
  max_seconds: null,
  max_pages: null,
}
const PNG: MediaFacts = { kind: 'image', format: 'png', size: 1000, width: 100, height: 100 }

for (const [title, media, taken, refusal] of [
  ['a format that it takes', PNG, TAKEN, undefined],
  [
    'a format that it does not take',
    { ...PNG, format: 'heic' },
    TAKEN,
    'HEIC: this model takes PNG and JPEG',
  ],
  [
    'an unknown format',
    { ...PNG, format: undefined },
    TAKEN,
    'unknown format: this model takes PNG and JPEG',
  ],
  [
    'a kind that it does not take',
    { ...PNG, kind: 'audio', format: 'mp3' },
    TAKEN,
    'this model takes no audio',
  ],
  ['an image for a model of texts', PNG, undefined, 'this model takes no images'],
  ['too many bytes', { ...PNG, size: 3_145_728 }, TAKEN, '3.0 MB: this model takes up to 1.0 MB'],
  [
    'too many pixels',
    { ...PNG, width: 2000, height: 1000 },
    TAKEN,
    '2,000,000 pixels: this model takes up to 1,000,000',
  ],
  [
    'an address, whose format is not known yet',
    { ...PNG, format: undefined, url: 'https://a/b' },
    TAKEN,
    undefined,
  ],
] as const)
  test(title, () => assert.equal(mediaRefusal(media, taken), refusal))

test('parts are joined only by a model that makes one vector of them, and not too many', () => {
  const files = new Map([['a', PNG]])
  const a = { id: 'a', name: 'a.png' }
  assert.equal(inputRefusal({ text: 'words', media: [a] }, files, TAKEN), undefined)
  assert.match(
    inputRefusal({ text: 'words', media: [a] }, files, { ...TAKEN, fuses: false }) ?? '',
    /one part per input/,
  )
  assert.match(inputRefusal({ text: 'words', media: [a, a] }, files, TAKEN) ?? '', /3 parts/)
  assert.match(
    inputRefusal({ text: '', media: [{ id: 'b', name: 'b' }] }, files, TAKEN) ?? '',
    /no longer in this browser/,
  )
})
