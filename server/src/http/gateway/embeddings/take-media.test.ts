import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { defaultLimits } from '#core/settings.ts'
import { DiskUploads } from '#stores/uploads/disk.ts'
import { pdfOf, pngOf, wavOf } from '#test/support/media.ts'
import { MAX_MEMORY_BYTES, TakenMedia } from './take-media.ts'

const folder = mkdtempSync(join(tmpdir(), 'torana-media-'))
after(() => rmSync(folder, { recursive: true }))
const uploads = await DiskUploads.open(folder, { maxBytes: 64 * 1024 * 1024 })
const limits = { ...defaultLimits, contentPartBytes: 2 * 1024 * 1024, maxContentSeconds: 60 }
const outside = { uploads, limits, yieldOnArrival: async () => {} }

const file = (place: string, bytes: Uint8Array) => ({ place, bytes: new Uint8Array(bytes) })
const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')
async function all(source: AsyncIterable<Uint8Array> | undefined): Promise<Buffer> {
  return Buffer.concat(await Array.fromAsync(source ?? []))
}

const png = await pngOf(30, 20)
const pdf = pdfOf(3)
const large = Buffer.concat([png, randomBytes(MAX_MEMORY_BYTES)])

test('small media stay in memory, as they came', async () => {
  await using taken = new TakenMedia(outside)
  await taken.take([file('input/0/image', png), file('input/1/pdf', pdf)])
  assert.deepEqual([taken.isOnDisk, uploads.inUse()], [false, { files: 0, bytes: 0 }])
  const media = taken.at('input/0/image') ?? assert.fail()
  const { open: _open, ...facts } = { ...media, open: undefined }
  const image = { kind: 'image', format: 'png', width: 30, height: 20, size: png.length, sha256: sha256(png) }
  assert.deepEqual(facts, image)
  assert.deepEqual([await all(media.open()), await all(media.open())], [png, png])
  assert.equal(taken.at('input/1/pdf')?.pages, 3)
  assert.equal(taken.at('input/2'), undefined)
})

test('media that come one after another stay in memory only as long as all of them are small', async () => {
  await using taken = new TakenMedia(outside)
  const half = Buffer.concat([png, randomBytes(MAX_MEMORY_BYTES / 2)])
  await taken.take([file('a', half)])
  assert.equal(uploads.inUse().files, 0)
  await taken.take([file('b', half)])
  assert.equal(uploads.inUse().files, 1)
  assert.deepEqual([await all(taken.at('a')?.open()), await all(taken.at('b')?.open())], [half, half])
})

test('larger ones share one file, give their memory back, and are gone when the request ends', async () => {
  const taken = new TakenMedia(outside)
  const files = [file('a', png), file('b', large), file('c', pdf)]
  await taken.take(files)
  assert.deepEqual([taken.isOnDisk, uploads.inUse().files], [true, 1])
  assert.deepEqual(
    files.map(({ bytes }) => bytes.length),
    [0, 0, 0],
  )
  for (const [place, bytes] of [
    ['a', png],
    ['b', large],
    ['c', pdf],
  ] as const) {
    const media = taken.at(place)
    assert.deepEqual([media?.size, media?.sha256], [bytes.length, sha256(bytes)])
    assert.deepEqual(await all(media?.open()), bytes)
  }
  await taken[Symbol.asyncDispose]()
  await taken[Symbol.asyncDispose]()
  assert.deepEqual(uploads.inUse(), { files: 0, bytes: 0 })
})

const REFUSED: readonly (readonly [what: string, bytes: Uint8Array, code: string, words: RegExp])[] = [
  [
    'another format',
    Buffer.concat([Buffer.from('II*\0'), large]),
    'invalid_media',
    /^input\[0\]\.content\[1\] is a TIFF;/,
  ],
  [
    'too many bytes',
    Buffer.concat([png, Buffer.alloc(2 * 1024 * 1024)]),
    'media_too_large',
    /at most 2097152 are allowed/,
  ],
  ['too many seconds', wavOf(61), 'media_too_large', /takes 61 seconds; at most 60/],
]
for (const [what, bytes, code, message] of REFUSED)
  test(`${what}: a fault with its part, and nothing is left on disk`, async () => {
    const taken = new TakenMedia(outside)
    const place = 'input/0/content/1/image_url/url'
    await assert.rejects(taken.take([file('input/0/content/0', large), file(place, bytes)]), {
      code,
      message,
      param: 'input[0].content[1]',
    })
    assert.deepEqual(uploads.inUse(), { files: 0, bytes: 0 })
  })

test('what is not base64 is a fault', async () => {
  const taken = new TakenMedia(outside)
  await assert.rejects(taken.take([{ place: 'input/3/image', bytes: undefined }]), {
    code: 'invalid_media',
    param: 'input[3]',
  })
})

test('media that no one reads are not left out silently', async () => {
  const taken = new TakenMedia(outside)
  await taken.take([file('input/0/content/0/image', png), file('input/1/extra/image', png)])
  taken.at('input/0/content/0/image')
  assert.throws(() => taken.refuseUnread(), {
    code: 'invalid_input',
    param: 'input[1]',
    message: /field 'image'/,
  })
  taken.at('input/1/extra/image')
  taken.refuseUnread()
})
