/** What happens to the C2PA manifest of an image on its way to the caller, and to the original where a conversion drops it. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { provenanceOf } from '#core/image/provenance.ts'
import { pictureHeader } from '#core/image/header.ts'
import { startGateway } from '#test/support/gateway.ts'
import {
  askImages,
  assertImageFault,
  billedPictures,
  eventsIn,
  picturesIn,
  purchasesAt,
  sha256,
} from '#test/support/image-answers.ts'

const native = { formats: ['png', 'jpeg', 'webp'], maxImages: 4 } as const
const gateway = await startGateway({
  images: {
    'signed-image': { on: 'c2pa', capabilities: { ...native, stream: true, maxPartialImages: 1 } },
    'plain-image': { on: 'plain', capabilities: native },
    'png-image': { on: 'c2pa+key-png', capabilities: { formats: ['png'], maxImages: 4 } },
    'strict-image': { on: 'strict-fields', capabilities: { formats: ['png'] } },
    'two-image': {
      on: ['c2pa+key-one', 'c2pa+key-two'],
      capabilities: { formats: ['png'] },
      capabilitiesOn: { 'c2pa+key-two': { formats: ['png', 'webp'] } },
    },
  },
})
const { provider } = gateway
const ask = (fields: Readonly<Record<string, unknown>>, headers: Readonly<Record<string, string>> = {}) =>
  askImages(gateway, fields, { headers })
const found = (bytes: Buffer) => provenanceOf(bytes, pictureHeader(bytes)?.format)
const linked = async (url: string): Promise<Buffer> => Buffer.from(await (await fetch(url)).arrayBuffer())

for (const format of native.formats) {
  for (const [model, expected, manifest] of [
    ['signed-image', 'kept', 'c2pa'],
    ['plain-image', 'none', 'none'],
  ] as const) {
    test(`${model}: a ${format} that is handed on as it came has its manifest: ${expected}`, async () => {
      const answer = await ask({ model, output_format: format, n: 2 })
      assert.equal(answer.headers.get('x-torana-provenance'), expected)
      for (const picture of await picturesIn(answer)) assert.equal(found(picture), manifest)
    })
  }
}

for (const [fields, isDropped] of [
  [{ output_format: 'webp' }, true],
  [{ output_format: 'jpeg', response_format: 'url' }, true],
  [{ output_format: 'jpeg', output_compression: 80 }, true],
  [{ output_format: 'png' }, false],
] as const) {
  test(`a conversion says that it dropped the manifest, and the original is kept: ${JSON.stringify(fields)}`, async () => {
    const answer = await ask({ model: 'png-image', ...fields, n: 2 })
    assert.equal(answer.headers.get('x-torana-provenance'), isDropped ? 'dropped' : 'kept')
    for (const picture of await picturesIn(answer)) assert.equal(found(picture), isDropped ? 'none' : 'c2pa')
    const job = await gateway.get(`/v1/images/jobs/${answer.headers.get('x-torana-job')}`)
    const { provenance, originals } = job.body as {
      provenance?: string
      originals?: { id: string; url: string }[]
    }
    assert.equal(provenance, isDropped ? 'dropped' : 'kept')
    assert.equal(originals?.length, isDropped ? 2 : undefined)
    const made = billedPictures(provider, 'c2pa+key-png')
    for (const { id, url } of originals ?? []) {
      const bytes = await linked(url)
      assert.equal(found(bytes), 'c2pa')
      assert.ok(made.includes(sha256(bytes)), 'the very bytes of the upstream')
      // By a key of the project as well, and not by another link with another id.
      assert.equal((await gateway.get(`/v1/assets/${id}`)).status, 200)
      assert.equal((await fetch(url.replace('-original', ''))).status, 403)
    }
  })
}

test('events say it too, since the headers may have left before', async () => {
  const events = eventsIn(await ask({ model: 'signed-image', stream: true, partial_images: 1 }))
  const done = events.at(-1)?.data as { type?: string; torana?: { provenance?: string } }
  assert.deepEqual([done.type, done.torana], ['image_generation.completed', { provenance: 'kept' }])
  const converted = await ask({ model: 'png-image', stream: true, output_format: 'webp' })
  assert.equal(converted.headers.get('x-torana-provenance'), 'dropped')
})

test('provenance: keep refuses a conversion before anything is bought, and is not sent to the upstream', async () => {
  const before = purchasesAt(provider, 'c2pa+key-png').length
  for (const fields of [{ output_format: 'webp' }, { output_format: 'jpeg', output_compression: 80 }])
    assertImageFault(
      await ask({ model: 'png-image', provenance: 'keep', ...fields }),
      'provenance_not_kept',
      {
        param: 'output_format',
        words: /'png-image' does not make \w+ itself/,
      },
    )
  assert.equal(purchasesAt(provider, 'c2pa+key-png').length, before)
  const kept = await ask({ model: 'png-image', provenance: 'keep' })
  assert.deepEqual([kept.status, kept.headers.get('x-torana-provenance')], [200, 'kept'])
  // A strict upstream would refuse a field that it does not know.
  assert.equal((await ask({ model: 'strict-image', provenance: 'keep' })).status, 200)
  assertImageFault(await ask({ model: 'png-image', provenance: 'drop' }), 'invalid_parameter', {
    param: 'provenance',
  })
})

test('provenance: keep goes to a deployment that makes the format itself', async () => {
  const answer = await ask({ model: 'two-image', provenance: 'keep', output_format: 'webp' })
  assert.equal(answer.headers.get('x-torana-deployment'), 'two-image/c2pa.key-two')
  assert.equal(answer.headers.get('x-torana-provenance'), 'kept')
})
