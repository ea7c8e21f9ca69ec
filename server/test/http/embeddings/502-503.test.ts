/** Upstreams that fail, 502, and upstreams that refuse us, 503. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import { after, test } from 'node:test'
import type { FaultCode } from '#core/fault/fault.ts'
import { assertFault } from '#test/support/errors.ts'
import { startGateway } from '#test/support/gateway.ts'

/** Nothing listens there any more. Packages refuse ports below 1024 themselves. */
const closed = createServer().listen(0, '127.0.0.1')
await once(closed, 'listening')
const closedUrl = `http://127.0.0.1:${(closed.address() as AddressInfo).port}/v1`
closed.close()

const both = { encodings: ['float', 'base64'] }

/** A server that does not speak HTTP. */
const gibberish = createServer((socket) => {
  socket.on('error', () => {})
  socket.end('220 mail.example.com ESMTP\r\n')
}).listen(0, '127.0.0.1')
after(() => gibberish.close())
await once(gibberish, 'listening')
const gibberishUrl = `http://127.0.0.1:${(gibberish.address() as AddressInfo).port}/v1`

/** Failures that the same request would meet again at the same upstream. */
const lasting: ReadonlySet<string> = new Set(['status-302', 'wrong-width', 'mixed-width'])

const failing: Record<string, readonly [FaultCode, RegExp]> = {
  'status-500': ['upstream_failed', /failed with 500/],
  'status-503': ['upstream_failed', /failed with 503/],
  'status-529': ['upstream_failed', /failed with 529/],
  'status-404': ['upstream_model_missing', /does not know its model or path/],
  'status-302': ['upstream_broken_answer', /sent status 302, a redirect/],
  reset: ['upstream_unreachable', /could not be reached/],
  'serves-then-resets': ['upstream_unreachable', /could not be reached/],
  'half-body': ['upstream_broken_answer', /cut off/],
  'half-body-chunked': ['upstream_broken_answer', /cut off/],
  garbage: ['upstream_broken_answer', /not JSON/],
  'html-200': ['upstream_broken_answer', /not JSON/],
  'empty-data': ['upstream_broken_answer', /0 vectors for 2 inputs/],
  'wrong-count': ['upstream_broken_answer', /1 vectors for 2 inputs/],
  'duplicate-index': ['upstream_broken_answer', /index 0 twice/],
  nan: ['upstream_broken_answer', /not a finite number|not a JSON array of numbers/],
  infinite: ['upstream_broken_answer', /not a finite number/],
  'zero-vector': ['upstream_broken_answer', /a vector of zeros/],
  'wrong-width': ['upstream_broken_answer', /15 dimensions instead of 16/],
  'mixed-width': ['upstream_broken_answer', /15 dimensions instead of 16/],
}

/** Failures that an operator has to correct. */
const rejecting = ['status-401', 'status-402', 'status-403', 'quota']

const gateway = await startGateway({
  models: {
    ...Object.fromEntries(
      Object.keys(failing).map((scenario) => [`${scenario}-w16`, { on: scenario, capabilities: both }]),
    ),
    'bad-base64-w16': { on: 'bad-base64+base64-only', capabilities: both },
    'ignores-dimensions-w16': { on: 'ignores-dimensions', capabilities: { dimensions: { min: 1, max: 16 } } },
    'nobody-w16': { on: 'plain+key-nobody', upstream: { baseUrl: 'http://127.0.0.1:9/v1' } },
    'no-name-w16': { on: 'plain+key-name', upstream: { baseUrl: 'http://nowhere.invalid/v1' } },
    'typed-w16': {
      on: 'plain+key-typed',
      upstream: { dialect: 'ai-sdk', provider: 'mistral', baseUrl: closedUrl },
    },
    'gibberish-w16': { on: 'plain+key-gibberish', upstream: { baseUrl: gibberishUrl } },
    ...Object.fromEntries(rejecting.map((scenario) => [`${scenario}-w16`, { on: scenario }])),
    'relieved-w16': { on: ['status-401', 'plain'] },
    'all-fail-w16': { on: ['status-500', 'reset', 'nan'], capabilities: both },
  },
})

for (const [scenario, [code, words]] of Object.entries(failing)) {
  for (const encoding_format of ['float', 'base64']) {
    test(`${scenario} as ${encoding_format}: ${code}, and no vector of it is handed out`, async () => {
      const answer = await gateway.ask({ model: `${scenario}-w16`, input: ['a', 'b'], encoding_format })
      assertFault(answer, code, { words, isLasting: lasting.has(scenario) })
      assert.equal(answer.body.data, undefined)
      assert.equal(answer.body.error.upstream?.deployment, `${scenario}-w16/${scenario}`)
    })
  }
}

test('base64 that is none is refused', async () => {
  const answer = await gateway.ask({ model: 'bad-base64-w16', input: ['a', 'b'], encoding_format: 'base64' })
  assertFault(answer, 'upstream_broken_answer', { words: /not base64/, isLasting: true })
})

test('an upstream that ignores dimensions is found out', async () => {
  const answer = await gateway.ask({ model: 'ignores-dimensions-w16', input: 'a', dimensions: 4 })
  assertFault(answer, 'upstream_broken_answer', { words: /16 dimensions instead of 4/, isLasting: true })
})

test('an upstream without a listener or without an address is unreachable', async () => {
  for (const [model, words] of [
    ['nobody-w16', 'connection refused'],
    ['no-name-w16', 'its name (is not known|could not be looked up)'],
    ['typed-w16', 'connection refused'],
  ] as const) {
    const answer = await gateway.ask({ model, input: 'a' })
    const { message } = answer.body.error
    assertFault(answer, 'upstream_unreachable')
    // A caller learns no address of the installation.
    assert.match(message, new RegExp(`^${model}/\\S+ could not be reached \\(${words}\\)\\.`))
  }
})

test('an upstream that does not speak HTTP has sent a broken answer', async () => {
  const answer = await gateway.ask({ model: 'gibberish-w16', input: 'a' })
  assertFault(answer, 'upstream_broken_answer', { words: /not HTTP/ })
})

test('when every deployment fails, the answer has the last failure and the number of attempts', async () => {
  const answer = await gateway.ask({ model: 'all-fail-w16', input: 'a' })
  assertFault(answer, 'upstream_broken_answer', { words: /last of 3 attempts/ })
  assert.equal(answer.body.error.upstream?.deployment, 'all-fail-w16/nan')
})

test('one part of a split request that fails makes the request fail: no answer has holes', async () => {
  const answer = await gateway.ask({
    model: 'wrong-count-w16',
    input: Array.from({ length: 40 }, (_, index) => `text ${index}`),
  })
  assertFault(answer, 'upstream_broken_answer')
})

for (const scenario of rejecting) {
  test(`${scenario} of an upstream is never the caller’s 401: their key is fine, and an operator has to act`, async () => {
    const answer = await gateway.ask({ model: `${scenario}-w16`, input: 'a' })
    assertFault(answer, 'upstream_rejected_us', { words: /Your key is fine/ })
    assert.doesNotMatch(answer.text, /exceeded your current quota|The scenario answers/)
  })
}

test('another deployment with another credential is tried', async () => {
  assert.equal((await gateway.ask({ model: 'relieved-w16', input: 'a' })).status, 200)
})
