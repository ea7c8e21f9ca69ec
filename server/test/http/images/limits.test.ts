/** Rate limits and budgets of images. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startGateway } from '#test/support/gateway.ts'
import { askImages, assertImageFault, picturesIn, servedBy } from '#test/support/image-answers.ts'

const keyOf = (name: string) => `key-of-a-painter-called-${name}-01`
const hard = (usd: number) => ({ usd, per: 'total', hard: true })
const price = { usdPerImage: 0.04 }

const gateway = await startGateway({
  models: { 'words-w16': { on: 'plain' } },
  images: {
    'paid-image': { on: 'plain', price, capabilities: { maxImages: 4, harmlessFields: ['trace'] } },
    'failing-image': { on: 'status-500', price, capabilities: { maxImages: 4 } },
    'short-image': { on: 'wrong-count', price, capabilities: { maxImages: 4 } },
    'unpriced-image': { on: 'plain+key-unpriced' },
    'uncounted-image': {
      on: 'plain+key-uncounted',
      price: { usdPerMillionTokens: { textInput: 1, imageOutput: 10 } },
    },
    'free-image': { on: 'plain+key-free', price: 'free' },
  },
  projects: {
    slow: { limits: { imagesPerMinute: 5 }, keys: [{ name: 'k', secret: keyOf('slow') }] },
    refunded: { limits: { imagesPerMinute: 3 }, keys: [{ name: 'k', secret: keyOf('refunded') }] },
    poor: { budget: hard(0.1), keys: [{ name: 'k', secret: keyOf('poor') }] },
    replayed: { limits: { imagesPerMinute: 2 }, keys: [{ name: 'k', secret: keyOf('replayed') }] },
    spent: { budget: hard(0.1), keys: [{ name: 'k', secret: keyOf('spent') }] },
    rich: { budget: hard(100), keys: [{ name: 'k', secret: keyOf('rich') }] },
  },
})
const { provider } = gateway
const ask = (
  name: string,
  fields: Readonly<Record<string, unknown>>,
  headers: Readonly<Record<string, string>> = {},
) => askImages(gateway, { model: 'paid-image', ...fields }, { key: keyOf(name), headers })
const rate = ({ headers }: { headers: Headers }, what: string) => headers.get(`x-ratelimit-${what}`)

test('what was bought is handed out again although the limit and the budget are used up', async () => {
  const headers = { 'idempotency-key': 'bought-once' }
  for (const [name, n] of [
    ['replayed', 2],
    ['spent', 2],
  ] as const) {
    const first = await ask(name, { n }, headers)
    assert.equal(first.status, 200, first.text.slice(0, 300))
    assert.equal((await ask(name, { n: 2, prompt: 'Another' })).status, 429)
    assert.equal((await ask(name, { n }, headers)).text, first.text)
    // The key of a refused request is free for later.
    const refused = { 'idempotency-key': 'refused-then-free' }
    assert.equal((await ask(name, { n: 2, prompt: 'Another' }, refused)).status, 429)
    assert.equal((await ask(name, { n: 2, prompt: 'A third' }, refused)).status, 429)
  }
})

test('a limit of images counts pictures, not requests, and the refusal says when there is room again', async () => {
  const first = await ask('slow', { n: 3 })
  assert.deepEqual(
    [first.status, rate(first, 'limit-images'), rate(first, 'remaining-images')],
    [200, '5', '2'],
  )
  const served = servedBy(provider).length
  const refused = await ask('slow', { n: 4 })
  assertImageFault(refused, 'rate_limit_exceeded', {
    words:
      /^The rate limit of project 'slow' \(5 images per minute\) has \d left; this request needs 4\. Retry in/,
  })
  assert.equal(rate(refused, 'limit-images'), '5')
  assert.match(refused.headers.get('retry-after') ?? '', /^\d+$/)
  assert.match(refused.headers.get('retry-after-ms') ?? '', /^\d+$/)
  assert.equal((await ask('slow', { n: 2 })).status, 200, 'what fits is made')
  assert.equal(servedBy(provider).length, served + 1)
})

test('more pictures than a whole minute allows: no wait would help, and the refusal says so', async () => {
  const refused = await ask('slow', { n: 6 })
  assertImageFault(refused, 'request_exceeds_rate_limit', {
    words: /is too low for this request, which needs 6/,
  })
  assert.equal(refused.headers.get('retry-after'), null)
})

test('pictures that were not made are given back', async () => {
  assert.equal((await ask('refunded', { model: 'failing-image', n: 3 })).status, 502)
  const short = await ask('refunded', { model: 'short-image', n: 3 })
  assert.equal((await picturesIn(short)).length, 2)
  assert.equal((await ask('refunded', {})).status, 200)
})

test('a hard budget: what fits is made, what may cost more is refused before anybody is called', async () => {
  assert.equal((await ask('poor', { n: 2 })).headers.get('x-torana-cost'), '0.080000000')
  const served = servedBy(provider).length
  const refused = await ask('poor', {})
  assertImageFault(refused, 'budget_exhausted', {
    words: /project poor \(\$0\.10 in total\) has \$0\.02 left; this request can cost up to \$0\.04/,
  })
  assert.equal(refused.headers.get('x-should-retry'), 'false')
  assert.equal(servedBy(provider).length, served)
  assert.equal((await ask('poor', { model: 'free-image' })).status, 200)
})

test('a failure costs a hard budget nothing', async () => {
  const before = await ask('rich', { model: 'failing-image', n: 4 })
  assert.equal(before.status, 502)
  assert.equal((await ask('rich', {})).status, 200)
})

test('under a hard budget a picture whose most is not known is not made', async () => {
  for (const model of ['unpriced-image', 'uncounted-image'])
    assertImageFault(await ask('rich', { model }), 'model_unpriced', {
      words: new RegExp(`'${model}' has no price`),
    })
  assert.equal((await askImages(gateway, { model: 'unpriced-image' })).status, 200, 'without a budget it is')
})

test('under a hard budget a field that the catalog does not know is refused: it could change the price', async () => {
  const fault = { param: 'style', words: /hard budget/ }
  assertImageFault(await ask('rich', { style: 'vivid' }), 'unsupported_parameter', fault)
  assert.equal((await ask('rich', { trace: 'x' })).status, 200)
  assert.equal((await askImages(gateway, { model: 'paid-image', style: 'vivid' })).status, 200)
})

test('a dry run takes nothing from a limit, and is refused nothing', async () => {
  const dryRun = { 'x-torana-dry-run': 'true' }
  assert.equal((await ask('poor', { n: 4 }, dryRun)).status, 200)
  assert.equal((await ask('slow', { n: 10 }, dryRun)).status, 200)
})
