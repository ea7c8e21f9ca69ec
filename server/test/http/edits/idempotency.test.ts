/** The same edit, requested many times and in several ways, is bought once; another image makes it another edit. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import OpenAI, { toFile } from 'openai'
import {
  aMask,
  aPicture,
  askForm,
  askJson,
  EDITS,
  editsAt,
  filePart,
  references,
  sendForm,
  uploadsGone,
} from '#test/support/edits.ts'
import { startGateway } from '#test/support/gateway.ts'
import { assertImageFault, billedPictures, picturesIn, sha256 } from '#test/support/image-answers.ts'

const capabilities = { edits: EDITS }
const gateway = await startGateway({
  images: {
    'plain-image': { on: 'plain', capabilities },
    'slow-image': { on: 'slow-400', capabilities },
    'slower-image': { on: 'slow-2500', capabilities },
    'shaky-image': { on: 'fails-first-1', capabilities },
    'maskless-image': { on: 'no-mask', capabilities: { edits: {} } },
  },
})
const { provider } = gateway
const [picture, other] = await Promise.all([1, 2].map((seed) => aPicture(40, 30, seed)))
assert.ok(picture && other)
const mask = await aMask(40, 30, (x) => x < 9)
const otherMask = await aMask(40, 30, (x) => x < 10)
const under = (key: string) => ({ headers: { 'idempotency-key': key } })
const image = filePart('image', picture)

test('twenty at once: one purchase, and twenty identical bodies', async () => {
  const files = [image, filePart('mask', mask)]
  const answers = await Promise.all(
    Array.from({ length: 20 }, () => askForm(gateway, { model: 'slow-image' }, files, under('twins'))),
  )
  for (const { status, text } of answers) assert.equal(status, 200, text.slice(0, 500))
  assert.equal(new Set(answers.map(({ text }) => text)).size, 1)
  assert.equal(new Set(answers.map(({ headers }) => headers.get('x-torana-job'))).size, 1)
  assert.equal(editsAt(provider, 'slow-400').length, 1)
  await uploadsGone(gateway)
})

test('the same files are the same request: by form or JSON, in any order of parts, under any name and label', async () => {
  const first = await askForm(
    gateway,
    { model: 'plain-image', n: '1' },
    [filePart('image[]', picture), filePart('image[]', other), filePart('mask', mask)],
    under('the-same'),
  )
  await picturesIn(first)
  const again = [
    await askJson(
      gateway,
      { model: 'plain-image', images: references(picture, other), mask: references(mask)[0] },
      under('the-same'),
    ),
    await sendForm(
      gateway,
      [
        filePart('mask', mask, { filename: 'm' }),
        { name: 'image[1]', value: other },
        { name: 'image[0]', value: picture },
        { name: 'prompt', value: 'a blue bicycle' },
        { name: 'model', value: 'plain-image' },
      ],
      under('the-same'),
    ),
  ]
  for (const { status, text } of again) assert.deepEqual([status, text], [200, first.text])
  assert.equal(editsAt(provider, 'plain').length, 1)
})

for (const [what, files] of [
  ['another picture', [filePart('image', other), filePart('mask', mask)]],
  ['another mask', [image, filePart('mask', otherMask)]],
  ['no mask', [image]],
  ['a picture more', [image, filePart('image', other), filePart('mask', mask)]],
  ['the mask as a picture', [image, filePart('image', mask)]],
] as const) {
  test(`${what} under the same key is another request, and refused`, async () => {
    const before = editsAt(provider, 'plain').length
    const key = `changed ${what}`.replaceAll(' ', '-')
    await picturesIn(
      await askForm(gateway, { model: 'plain-image' }, [image, filePart('mask', mask)], under(key)),
    )
    const answer = await askForm(gateway, { model: 'plain-image' }, files, under(key))
    assertImageFault(answer, 'idempotency_key_reused', { param: 'idempotency-key' })
    assert.equal(answer.status, 422)
    assert.equal(editsAt(provider, 'plain').length, before + 1)
    await uploadsGone(gateway)
  })
}

test('pictures in another order are another request', async () => {
  const files = [filePart('image', picture), filePart('image', other)]
  await picturesIn(await askForm(gateway, { model: 'plain-image' }, files, under('order')))
  const turned = await askForm(gateway, { model: 'plain-image' }, files.toReversed(), under('order'))
  assertImageFault(turned, 'idempotency_key_reused')
})

test('an edit and a picture from text alone are not taken for one another', async () => {
  await picturesIn(await askForm(gateway, { model: 'plain-image' }, [image], under('two-routes')))
  const generation = await askJson(
    gateway,
    { model: 'plain-image' },
    { path: '/v1/images/generations', ...under('two-routes') },
  )
  assertImageFault(generation, 'idempotency_key_reused')
})

test('a failure that bought nothing frees the key, and so does a refusal before it was a job', async () => {
  const files = [image, filePart('mask', mask)]
  assertImageFault(
    await askForm(gateway, { model: 'maskless-image' }, files, under('free')),
    'unsupported_parameter',
  )
  assertImageFault(await askForm(gateway, { model: 'shaky-image' }, files, under('free')), 'upstream_failed')
  await picturesIn(await askForm(gateway, { model: 'shaky-image' }, files, under('free')))
  assert.equal(editsAt(provider, 'fails-first-1').filter(({ served }) => served).length, 1)
})

test('a retry of the SDK’s own, after its time-out, joins what it retries: one purchase, and the picture arrives', async () => {
  const client = new OpenAI({
    apiKey: gateway.key,
    baseURL: `${gateway.url}/v1`,
    timeout: 1000,
    maxRetries: 8,
  })
  const { data } = await client.images.edit({
    model: 'slower-image',
    prompt: 'a blue bicycle',
    image: await toFile(picture, 'a.png', { type: 'image/png' }),
  })
  const bytes = Buffer.from(data?.[0]?.b64_json ?? '', 'base64')
  assert.deepEqual(billedPictures(provider, 'slow-2500'), [sha256(bytes)])
  assert.equal(editsAt(provider, 'slow-2500').length, 1)
  await uploadsGone(gateway)
})
