import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertFault } from '#test/support/errors.ts'
import { startGateway, type Asked } from '#test/support/gateway.ts'
import { pngOf } from '#test/support/media.ts'
import { eventually } from '#test/support/process.ts'

const keyOf = (name: string) => `key-with-a-budget-of-${name}-01`
/** A thousandth of a cent per token. */
const price = { usdPerMillionTokens: 10 }
const hard = (usd: number, per = 'total') => ({ usd, per, hard: true })

const gateway = await startGateway({
  models: {
    'paid-w16': { on: 'plain', price, capabilities: { tokenArrays: true, harmlessFields: ['trace'] } },
    'free-w16': { on: 'plain', price: 'free', capabilities: { tokenArrays: true } },
    'unpriced-w16': { on: 'plain', capabilities: { tokenArrays: true } },
    'slow-w16': { on: 'slow-1000', price, capabilities: { tokenArrays: true } },
    'seeing-w16': {
      on: 'plain',
      upstream: { base: 'openrouter/api/v1' },
      price: { usdPerInput: { millionTextTokens: 10 } },
      capabilities: { contents: { wire: 'openrouter', inputs: ['text', 'image'], fuses: true } },
    },
  },
  projects: {
    poor: { budget: hard(0.001), keys: [{ name: 'k', secret: keyOf('poor') }] },
    daily: { budget: hard(0.001, 'day'), keys: [{ name: 'k', secret: keyOf('daily') }] },
    busy: { budget: hard(0.001), keys: [{ name: 'k', secret: keyOf('busy') }] },
    mixed: {
      budget: hard(0.001),
      keys: [
        { name: 'a', secret: keyOf('mixed-a'), budget: hard(0.0005) },
        { name: 'b', secret: keyOf('mixed-b') },
      ],
    },
    rich: { budget: hard(1), keys: [{ name: 'k', secret: keyOf('rich') }] },
    soft: {
      budget: { usd: 0.0001, per: 'total', hard: false },
      keys: [{ name: 'k', secret: keyOf('soft') }],
    },
  },
})

const tokens = (count: number): number[] => Array.from({ length: count }, (_, index) => index)
const ask = (name: string, count: number, model = 'paid-w16', fields: object = {}): Promise<Asked> =>
  gateway.ask({ model, input: tokens(count), ...fields }, { key: keyOf(name) })
const calls = (): number => gateway.provider.counters().calls

/** Refused for good: no wait is offered, no call was made. */
function assertExhausted(answer: Asked, words: RegExp): void {
  assertFault(answer, 'budget_exhausted', { words })
  assert.equal(answer.headers.get('x-should-retry'), 'false')
  for (const name of ['retry-after', 'retry-after-ms']) assert.equal(answer.headers.get(name), null)
}

test('a hard budget that is used up: the refusal says whose, how much, what is left and what was asked for', async () => {
  const first = await ask('poor', 60)
  assert.deepEqual([first.status, first.headers.get('x-torana-cost')], [200, '0.000600000'])
  const callsBefore = calls()
  assertExhausted(
    await ask('poor', 60),
    /^The hard budget of project poor \(\$0\.001 in total\) has \$0\.0004 left; this request can cost up to \$0\.0006\.$/,
  )
  assert.equal(calls(), callsBefore)
  assert.equal((await ask('poor', 40)).status, 200, 'what fits is served')
  assertExhausted(await ask('poor', 1), /has \$0\.00 left/)
})

test('a budget with a window says when the next one begins', async () => {
  assertExhausted(
    await ask('daily', 101),
    /\$0\.001 a day\) has \$0\.001 left; this request can cost up to \$0\.00101\. The next period begins at \d{4}-\d\d-\d\dT00:00:00\.000Z\.$/,
  )
})

test('money that is reserved for requests under way may come back: that refusal is worth a retry', async () => {
  // The reservation covers the maximum cost of a text, so a part of it is given back.
  const underWay = gateway.ask({ model: 'slow-w16', input: 'a'.repeat(80) }, { key: keyOf('busy') })
  await eventually(async () => assert.equal(gateway.provider.counters().inFlight, 1))
  const refused = await ask('busy', 60)
  assertFault(refused, 'budget_reserved', { words: /reserved for running requests.*Retry in 1500 ms/ })
  assert.deepEqual(
    ['retry-after', 'retry-after-ms', 'x-should-retry'].map((name) => refused.headers.get(name)),
    ['2', '1500', 'true'],
  )
  assert.equal((await underWay).status, 200)
  assert.equal((await ask('busy', 60)).status, 200)
})

test('a key has its own budget beside that of its project, and the one in the way is named', async () => {
  assert.equal((await ask('mixed-a', 40)).status, 200)
  assertExhausted(
    await ask('mixed-a', 20),
    /^The hard budget of key mixed\/a \(\$0\.0005 in total\) has \$0\.0001 left/,
  )
  // A request that its key refused took nothing from the project.
  assert.equal((await ask('mixed-b', 60)).status, 200)
  assertExhausted(
    await ask('mixed-a', 10),
    /^The hard budget of project mixed \(\$0\.001 in total\) has \$0\.00 left/,
  )
})

test('under a hard budget a model without a price is refused, and a free one is not', async () => {
  assertFault(await ask('rich', 1, 'unpriced-w16'), 'model_unpriced', {
    words:
      /'unpriced-w16' has no price.*sets one in the console under Settings, Prices, or as `price` in torana\.yaml/,
  })
  assert.equal((await ask('rich', 1, 'free-w16')).status, 200)
  assert.equal((await ask('soft', 1, 'unpriced-w16')).status, 200)
})

test('under a hard budget a part without a price is refused, and a text of the same model is not', async () => {
  const image = `data:image/png;base64,${(await pngOf(20, 10)).toString('base64')}`
  const content = { content: ['a boat', { type: 'image_url', image_url: { url: image } }] }
  const seen = (name: string, input: unknown) =>
    gateway.ask({ model: 'seeing-w16', input }, { key: keyOf(name) })
  const callsBefore = calls()
  assertFault(await seen('rich', ['a text', content]), 'model_unpriced', {
    words: /no price for this request/,
  })
  assert.equal(calls(), callsBefore)
  assert.equal((await seen('rich', ['a text'])).headers.get('x-torana-cost'), '0.000020000')
  const unpriced = await seen('soft', [content])
  assert.deepEqual([unpriced.status, unpriced.headers.get('x-torana-cost')], [200, 'unpriced'])
})

test('under a hard budget a field that the catalog does not know is refused: it could change the price', async () => {
  assertFault(await ask('rich', 1, 'paid-w16', { late_chunking: true }), 'unsupported_parameter', {
    param: 'late_chunking',
    words: /hard budget/,
  })
  assert.equal((await ask('rich', 1, 'paid-w16', { trace: 'x' })).status, 200)
  assert.equal((await ask('soft', 1, 'paid-w16', { late_chunking: true })).status, 200)
})

test('a soft budget refuses no request', async () => {
  assert.equal((await ask('soft', 60)).status, 200)
  assert.equal((await ask('soft', 60)).status, 200)
})

test('a dry run costs nothing and is refused nothing', async () => {
  const answer = await gateway.ask(
    { model: 'paid-w16', input: tokens(5000) },
    { key: keyOf('poor'), headers: { 'x-torana-dry-run': 'true' } },
  )
  assert.equal(answer.status, 200)
})
