import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PictureUnreadable } from '#ports/image-codec.ts'
import type { MadePicture } from '#ports/image-upstream.ts'
import { memoryImages } from '#test/support/image-parts.ts'
import { convertPictures, describePictures } from './deliver.ts'

const GOOD = new Uint8Array([1, 2, 3])
const BAD = new Uint8Array([9])
const CONVERTED = new Uint8Array([4, 5])
const ASKER = { project: 'p', timeoutMs: 1000 }

/** Converts what begins with 1, and nothing else. */
const outside = {
  ...memoryImages(),
  codec: {
    convert: (bytes: Uint8Array) =>
      bytes[0] === 1 ? Promise.resolve(CONVERTED) : Promise.reject(new PictureUnreadable('no picture')),
    colourMask: () => Promise.reject(new Error('not asked')),
  },
}

async function formatsOf(all: readonly Uint8Array<ArrayBuffer>[], asked: number): Promise<boolean[]> {
  const made: MadePicture[] = all.map((bytes) => ({ bytes, revisedPrompt: undefined }))
  const kept = await describePictures(made, outside)
  const conversion = { format: 'webp', quality: undefined } as const
  const pictures = await convertPictures(kept, made, () => conversion, asked, new Map(), ASKER, outside)
  return pictures.map(({ converted }) => converted !== undefined)
}

test('a picture beyond what was asked for that can not be converted stays as it came, and takes no other with it', async () => {
  assert.deepEqual(await formatsOf([GOOD, BAD], 1), [true, false])
  await assert.rejects(formatsOf([GOOD, BAD], 2), PictureUnreadable)
})
