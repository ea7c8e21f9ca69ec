/** What an answer says besides its images: who made them, their cost, what was changed, what was left out. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startGateway } from '#test/support/gateway.ts'
import {
  askImages,
  eventsIn,
  picturesIn,
  purchasesAt,
  servedBy,
  SMALL,
  type ImagesAsked,
} from '#test/support/image-answers.ts'

/** A dollar per million tokens of the prompt, ten per million of the image. */
const BY_TOKENS = { usdPerMillionTokens: { textInput: 1, imageOutput: 10 } }
const MAX_TOKENS = { outputTokens: { default: 5000 } }

const gateway = await startGateway({
  images: {
    'flat-image': { on: 'plain', price: { usdPerImage: 0.04 }, capabilities: { maxImages: 4 } },
    'table-image': {
      on: 'plain+key-table',
      price: { usdPerImage: { '1024x1024': { low: 0.01, high: 0.1 }, default: 0.5 } },
      capabilities: { qualities: ['low', 'high'] },
    },
    'area-image': { on: 'plain+key-area', price: { usdPerMegapixel: 0.05 } },
    'token-image': {
      on: 'plain+key-token',
      image: MAX_TOKENS,
      price: BY_TOKENS,
      capabilities: { stream: true, maxPartialImages: 3 },
    },
    'uncounted-image': { on: 'no-usage', image: MAX_TOKENS, price: BY_TOKENS },
    'unpriced-image': { on: 'plain+key-unpriced' },
    'two-image': {
      on: ['plain+key-one', 'plain+key-two'],
      price: { usdPerImage: 0.04 },
      capabilities: { sizes: [SMALL, '128x128'] },
    },
    'short-image': { on: 'wrong-count', capabilities: { maxImages: 4 }, price: { usdPerImage: 0.04 } },
    'lenient-image': { on: 'plain+key-lenient', unsupported: 'drop' },
  },
})
const { provider } = gateway
const ask = (fields: Readonly<Record<string, unknown>>, headers: Readonly<Record<string, string>> = {}) =>
  askImages(gateway, fields, { headers })
const headersOf = ({ headers }: ImagesAsked, ...names: readonly string[]): (string | null)[] =>
  names.map((name) => headers.get(`x-torana-${name}`))

test('an answer says who made it, by how many attempts, what it cost and under which job it is kept', async () => {
  const answer = await ask({ model: 'flat-image', n: 2 })
  assert.deepEqual(
    headersOf(answer, 'deployment', 'attempts', 'cost', 'usage', 'emulated', 'dropped', 'incomplete'),
    ['flat-image/plain', '1', '0.080000000', 'upstream', null, null, null],
  )
  const [job] = headersOf(answer, 'job')
  assert.equal(job, answer.headers.get('x-request-id'))
  assert.match(job ?? '', /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
  assert.equal(answer.headers.get('content-type'), 'application/json; charset=utf-8')
})

const prices: [name: string, fields: Record<string, unknown>, cost: string, usage: string][] = [
  [
    'a table by size and quality',
    { model: 'table-image', size: '1024x1024', quality: 'high' },
    '0.100000000',
    'upstream',
  ],
  [
    'the cheaper quality of it',
    { model: 'table-image', size: '1024x1024', quality: 'low' },
    '0.010000000',
    'upstream',
  ],
  [
    'a size that the table does not name',
    { model: 'table-image', quality: 'low' },
    '0.500000000',
    'upstream',
  ],
  ['pixels, exactly', { model: 'area-image', size: '100x70' }, '0.000350000', 'upstream'],
  ['no price at all', { model: 'unpriced-image' }, 'unpriced', 'upstream'],
  // 13 bytes of prompt, and the maximum of tokens that an image may have.
  [
    'tokens that nobody counted: the most they can be',
    { model: 'uncounted-image' },
    '0.050013000',
    'estimated',
  ],
]
for (const [name, fields, cost, usage] of prices) {
  test(`a picture is charged by ${name}`, async () => {
    assert.deepEqual(headersOf(await ask(fields), 'cost', 'usage'), [cost, usage])
  })
}

test('tokens are charged by kind, and a stream costs what the same picture costs in one piece', async () => {
  const fields = { model: 'token-image', prompt: 'twelve bytes', size: '1024x1024' }
  const whole = await ask(fields)
  const { input_tokens: input = 0, output_tokens: output = 0 } = whole.body.usage ?? {}
  assert.equal(output, 1056)
  const cost = ((input + 10 * output) / 1e6).toFixed(9)
  assert.deepEqual(headersOf(whole, 'cost', 'usage'), [cost, 'upstream'])

  const streamed = await ask({ ...fields, stream: true })
  assert.deepEqual(headersOf(streamed, 'cost', 'usage', 'deployment'), [
    cost,
    'upstream',
    'token-image/plain.key-token',
  ])
  assert.deepEqual(eventsIn(streamed).at(-1)?.data.usage, whole.body.usage)
})

test('fewer pictures than were asked for: as many as came are charged, and the answer says so', async () => {
  const answer = await ask({ model: 'short-image', n: 3 })
  assert.equal((await picturesIn(answer)).length, 2)
  assert.deepEqual(headersOf(answer, 'incomplete', 'cost'), ['2 of 3', '0.080000000'])
})

test('an option that no deployment has is dropped where the caller or the model allows it, and a header says so', async () => {
  const fields = { model: 'two-image', quality: 'high', size: '640x480', background: 'opaque' }
  const refused = await ask(fields)
  assert.deepEqual([refused.status, refused.body.error.code], [400, 'unsupported_parameter'])
  const dropped = await ask(fields, { 'x-torana-unsupported': 'drop' })
  assert.equal(dropped.status, 200, dropped.text)
  const [names] = headersOf(dropped, 'dropped')
  assert.deepEqual(names?.split(', ').toSorted(), ['background', 'quality', 'size'])

  const lenient = await ask({ model: 'lenient-image', quality: 'high' })
  assert.deepEqual(headersOf(lenient, 'dropped'), ['quality'])
  const strict = await ask({ model: 'lenient-image', quality: 'high' }, { 'x-torana-unsupported': 'refuse' })
  assert.equal(strict.status, 400)
})

test('a dry run says what would happen and what it may cost, and calls no upstream', async () => {
  const callsBefore = provider.counters().calls
  const dryRun = { 'x-torana-dry-run': 'true' }
  const answer = await ask({ model: 'two-image', n: 3, output_format: 'webp', stream: true }, dryRun)
  assert.equal(answer.status, 200, answer.text)
  const deployment = {
    calls: 3,
    native: false,
    emulated: ['output_format', 'n', 'stream'],
    cost_usd: { min: '0.000000000', max: '0.120000000' },
  }
  assert.deepEqual(answer.body, {
    object: 'torana.dry_run',
    model: 'two-image',
    dropped: [],
    deployments: [
      { id: 'two-image/plain.key-one', ...deployment },
      { id: 'two-image/plain.key-two', ...deployment },
    ],
  })
  const unpriced = await ask({ model: 'unpriced-image' }, { ...dryRun, 'x-torana-unsupported': 'drop' })
  assert.deepEqual((unpriced.body as unknown as { deployments: unknown[] }).deployments, [
    {
      id: 'unpriced-image/plain.key-unpriced',
      calls: 1,
      native: true,
      emulated: [],
      cost_usd: { min: 'unpriced', max: 'unpriced' },
    },
  ])
  assert.equal(provider.counters().calls, callsBefore)
})

test('the first deployment is asked alone while it answers', async () => {
  const purchasesBefore = purchasesAt(provider, 'plain+key-two').length
  const answer = await ask({ model: 'two-image' })
  assert.deepEqual(headersOf(answer, 'deployment', 'attempts'), ['two-image/plain.key-one', '1'])
  assert.ok(servedBy(provider, 'plain+key-one').length > 0)
  assert.equal(purchasesAt(provider, 'plain+key-two').length, purchasesBefore)
})
