/** Images as they were bought, in the requested form, number and format. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import sharp from 'sharp'
import { startGateway } from '#test/support/gateway.ts'
import {
  askImages,
  billedPictures,
  IMAGES_PATH,
  picturesIn,
  purchasesAt,
  servedBy,
  sha256,
  type ImagesAsked,
} from '#test/support/image-answers.ts'

const ALL_FORMATS = ['png', 'jpeg', 'webp']

const gateway = await startGateway({
  images: {
    'plain-image': { on: 'plain', aliases: ['the-image'], capabilities: { maxImages: 10 } },
    'single-image': { on: 'max-n-1+slow-50', capabilities: { maxImages: 1, maxParallelCalls: 2 } },
    'link-image': { on: 'url-only', capabilities: { forms: ['url'] } },
    'either-image': { on: 'both-forms', capabilities: { forms: ['url', 'b64_json'] } },
    'links-image': { on: 'plain+key-links', image: { answersWith: 'url' } },
    'raw-image': {
      on: 'plain+key-raw',
      upstream: { base: 'fireworks/inference/v1', dialect: 'ai-sdk', provider: 'fireworks' },
      upstreamModel: 'accounts/fireworks/models/SSD-1B',
      capabilities: { formats: ['jpeg'] },
    },
    'able-image': { on: 'plain+key-able', capabilities: { formats: ALL_FORMATS, compression: true } },
    'png-image': { on: 'plain+key-png' },
    'choosy-image': {
      on: 'plain+key-choosy',
      capabilities: {
        qualities: ['low', 'high'],
        backgrounds: ['transparent', 'opaque'],
        moderations: ['low'],
      },
    },
    'silent-image': { on: 'no-echo+no-usage' },
    'wordy-image': { on: 'revises+extra-fields' },
    'strict-image': { on: 'strict-fields' },
    'ignoring-image': {
      on: 'wrong-format',
      capabilities: { formats: ALL_FORMATS, compression: true, maxImages: 2 },
    },
    'wilful-image': { on: 'wrong-size+wrong-format' },
  },
})
const { provider } = gateway
const ask = (fields: Readonly<Record<string, unknown>>, headers: Readonly<Record<string, string>> = {}) =>
  askImages(gateway, fields, { headers })

async function assertBilled(answer: ImagesAsked, scenario: string, count = 1): Promise<Buffer[]> {
  const pictures = await picturesIn(answer)
  assert.equal(pictures.length, count)
  const billed = billedPictures(provider, scenario)
  for (const bytes of pictures) assert.ok(billed.includes(sha256(bytes)), 'a picture that was not bought')
  assert.equal(new Set(pictures.map(sha256)).size, count, 'the same picture twice')
  return pictures
}

const forms: [model: string, scenario: string][] = [
  ['plain-image', 'plain'],
  ['link-image', 'url-only'],
  ['either-image', 'both-forms'],
  ['raw-image', 'plain+key-raw'],
]
for (const [model, scenario] of forms) {
  test(`${model}: the picture is the upstream’s, byte for byte, as base64 and by link`, async () => {
    const inside = await ask({ model })
    assert.deepEqual(Object.keys(inside.body.data[0] ?? {}), ['b64_json'])
    await assertBilled(inside, scenario)

    const linked = await ask({ model, response_format: 'url' })
    assert.deepEqual(Object.keys(linked.body.data[0] ?? {}), ['url'])
    assert.ok(linked.body.data[0]?.url?.startsWith(`${gateway.url}/v1/assets/`), linked.text)
    await assertBilled(linked, scenario)
  })
}

test('a model that answers with links does so unless the caller asks for base64', async () => {
  assert.ok((await ask({ model: 'links-image' })).body.data[0]?.url)
  assert.ok((await ask({ model: 'links-image', response_format: 'b64_json' })).body.data[0]?.b64_json)
})

test('several pictures are bought in one call where the upstream makes them so', async () => {
  const before = servedBy(provider, 'plain').length
  await assertBilled(await ask({ model: 'plain-image', n: 3 }), 'plain', 3)
  const [call, ...others] = servedBy(provider, 'plain').slice(before)
  assert.deepEqual([call?.n, others], [3, []])
})

test('where it makes one a call, as many calls are made, no more side by side than allowed', async () => {
  const answer = await ask({ model: 'single-image', n: 4 })
  await assertBilled(answer, 'max-n-1+slow-50', 4)
  assert.deepEqual(
    servedBy(provider, 'max-n-1+slow-50').map(({ n }) => n),
    [1, 1, 1, 1],
  )
  assert.deepEqual(
    ['emulated', 'attempts', 'incomplete'].map((name) => answer.headers.get(`x-torana-${name}`)),
    ['n', '4', null],
  )
  assert.equal(answer.body.usage?.output_tokens, 4 * 6)
  assert.equal(provider.counters().peakInFlight, 2)
})

for (const format of ALL_FORMATS) {
  test(`${format} comes from the upstream where it can, and is made of its png where it can not`, async () => {
    const native = await ask({ model: 'able-image', output_format: format })
    const [own] = await assertBilled(native, 'plain+key-able')
    const converted = await ask({ model: 'png-image', output_format: format })
    const [made] = await picturesIn(converted)
    for (const bytes of [own, made]) {
      const picture = await sharp(bytes).metadata()
      assert.deepEqual([picture.format, picture.width, picture.height], [format, 96, 64])
    }
    assert.deepEqual([native.body['output_format'], converted.body['output_format']], [format, format])
    assert.equal(native.headers.get('x-torana-emulated'), null)
    const isConverted = format !== 'png'
    assert.equal(converted.headers.get('x-torana-emulated'), isConverted ? 'output_format' : null)
    assert.equal(billedPictures(provider).includes(sha256(made as Buffer)), !isConverted)
  })
}

test('a converted picture shows what the upstream drew', async () => {
  const answer = await ask({ model: 'png-image', output_format: 'webp', output_compression: 100 })
  const [made] = await picturesIn(answer)
  const original = provider.picture(billedPictures(provider, 'plain+key-png').at(-1) ?? '')
  const pixels = (bytes: Buffer | undefined) => sharp(bytes).removeAlpha().raw().toBuffer()
  const [left, right] = await Promise.all([pixels(made), pixels(original)])
  const difference = left.reduce((sum, value, index) => sum + Math.abs(value - (right[index] ?? 0)), 0)
  assert.ok(difference / left.length < 8, `a pixel differs by ${difference / left.length} on average`)
})

test('compression: less is larger, by the upstream’s own hand and by ours', async () => {
  for (const model of ['able-image', 'png-image']) {
    const sizes: number[] = []
    for (const output_compression of [5, 95]) {
      const answer = await ask({ model, output_format: 'jpeg', output_compression, size: '256x256' })
      sizes.push((await picturesIn(answer))[0]?.length ?? 0)
      const emulated = model === 'png-image' ? 'output_format, output_compression' : null
      assert.equal(answer.headers.get('x-torana-emulated'), emulated)
    }
    const [small = 0, large = 0] = sizes
    assert.ok(small < large, `${model}: ${sizes.join()}`)
  }
})

test('response_format and output_format are understood when they are mixed up', async () => {
  const answer = await ask({ model: 'able-image', response_format: 'webp', output_format: 'url' })
  assert.ok(answer.body.data[0]?.url)
  const [bytes] = await picturesIn(answer)
  assert.equal((await sharp(bytes).metadata()).format, 'webp')
})

test('the answer has what the upstream resolved and counted', async () => {
  const { body } = await ask({
    model: 'choosy-image',
    quality: 'high',
    background: 'transparent',
    moderation: 'low',
    user: 'u-1',
    size: '1024x1024',
  })
  const { created, data, ...rest } = body
  assert.ok(Math.abs(created - Date.now() / 1000) < 600)
  assert.equal(data.length, 1)
  const [entry] = servedBy(provider, 'plain+key-choosy')
  const input = entry?.tokens ?? 0
  assert.deepEqual(rest, {
    size: '1024x1024',
    quality: 'high',
    background: 'transparent',
    output_format: 'png',
    usage: {
      total_tokens: input + 4160,
      input_tokens: input,
      output_tokens: 4160,
      input_tokens_details: { text_tokens: input, image_tokens: 0 },
    },
  })
})

test('what the upstream did not say is not made up', async () => {
  const { body } = await ask({ model: 'silent-image' })
  assert.deepEqual(Object.keys(body), ['created', 'data'])
})

for (const fields of [
  { output_format: 'png' },
  { output_format: 'jpeg' },
  { output_format: 'webp', n: 2 },
  { output_format: 'jpeg', response_format: 'url', output_compression: 60 },
]) {
  test(`an upstream that ignores ${JSON.stringify(fields)} is corrected: the answer is in the format that was asked for`, async () => {
    const answer = await ask({ model: 'ignoring-image', ...fields })
    const made = billedPictures(provider, 'wrong-format')
    const pictures = await picturesIn(answer)
    assert.equal(pictures.length, fields.n ?? 1)
    for (const bytes of pictures) {
      assert.equal((await sharp(bytes).metadata()).format, fields.output_format)
      assert.ok(!made.includes(sha256(bytes)), 'converted by Torana')
    }
    const isCompressed = fields.output_compression !== undefined
    assert.equal(
      answer.headers.get('x-torana-emulated'),
      isCompressed ? 'output_format, output_compression, response_format' : 'output_format',
    )
    assert.equal(answer.headers.get('x-torana-differs'), null)
    assert.equal(answer.body['output_format'], fields.output_format)
  })
}

test('a picture that comes in another format stays as it came where its manifest must be kept', async () => {
  const answer = await ask({ model: 'ignoring-image', output_format: 'jpeg', provenance: 'keep' })
  assert.equal(answer.headers.get('x-torana-differs'), 'output_format=webp')
  assert.deepEqual([answer.headers.get('x-torana-emulated'), answer.body['output_format']], [null, 'webp'])
})

test('a picture of another size than asked for is handed on, and the answer says what it is', async () => {
  const answer = await ask({ model: 'wilful-image', output_format: 'png', size: '96x64' })
  assert.equal(answer.headers.get('x-torana-differs'), 'size=48x64')
  assert.deepEqual([answer.body['output_format'], answer.body['size']], ['png', '48x64'])
  const [bytes] = await picturesIn(answer)
  assert.equal((await sharp(bytes).metadata()).format, 'png')
  const open = await ask({ model: 'wilful-image', size: undefined })
  assert.equal(open.headers.get('x-torana-differs'), null)
  assert.equal((await ask({ model: 'plain-image' })).headers.get('x-torana-differs'), null)
})

test('a revised prompt and fields that Torana does not know come through, whatever their script', async () => {
  const { body } = await ask({ model: 'wordy-image', prompt: 'ein rotes Fahrrad, 赤い自転車 🚲' })
  assert.equal(body.data[0]?.revised_prompt, 'In great detail: ein rotes Fahrrad, 赤い自転車 🚲')
  assert.deepEqual([body['id'], body['meta']], ['img-fake', { served_by: { name: 'fake-provider' } }])
})

test('fields that Torana does not know reach the OpenAI wire as they are', async () => {
  assert.equal((await ask({ model: 'strict-image', style: 'vivid' })).status, 200)
  const refused = await ask({ model: 'strict-image', sparkle: { much: true } })
  assert.match(refused.body.error.message, /sparkle/)
  assert.deepEqual([refused.status, refused.body.error.code], [400, 'upstream_refused'])
})

test('the sizes and words of auto are left to the upstream', async () => {
  const { status, body } = await ask({
    model: 'strict-image',
    size: 'auto',
    quality: 'auto',
    background: 'auto',
  })
  assert.deepEqual([status, body['size']], [200, '1024x1024'])
  assert.equal(servedBy(provider, 'strict-fields').at(-1)?.size, null)
})

const spellings: [path: string, fields: object][] = [
  [IMAGES_PATH, { model: 'the-image' }],
  ['/openai/v1/images/generations', { model: 'plain-image' }],
  ['/images/generations', { model: 'plain-image' }],
  ['/openai/deployments/plain-image/images/generations?api-version=2025-04-01-preview', {}],
]
for (const [path, fields] of spellings) {
  test(`${path} ${JSON.stringify(fields)} makes a picture`, async () => {
    await assertBilled(await askImages(gateway, { ...fields }, { path }), 'plain')
  })
}

test('each request without a key of its own is a purchase of its own', async () => {
  const before = purchasesAt(provider, 'plain').length
  const answers = await Promise.all([ask({ model: 'plain-image' }), ask({ model: 'plain-image' })])
  const [first, second] = await Promise.all(answers.map(picturesIn))
  assert.notEqual(sha256(first?.[0] as Buffer), sha256(second?.[0] as Buffer))
  assert.equal(purchasesAt(provider, 'plain').length, before + 2)
})
