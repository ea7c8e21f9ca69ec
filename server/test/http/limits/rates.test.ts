import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertFault } from '#test/support/errors.ts'
import { startGateway, type Asked } from '#test/support/gateway.ts'

const keyOf = (name: string) => `rate-limited-key-of-${name}-0001`

const gateway = await startGateway({
  models: {
    'plain-w16': { on: 'plain', capabilities: { tokenArrays: true } },
    'failing-w16': { on: 'status-400' },
  },
  projects: {
    few: { limits: { requestsPerMinute: 2 }, keys: [{ name: 'k', secret: keyOf('few') }] },
    small: { limits: { tokensPerMinute: 100 }, keys: [{ name: 'k', secret: keyOf('small') }] },
    shared: {
      limits: { requestsPerMinute: 3 },
      keys: [
        { name: 'tight', secret: keyOf('tight'), limits: { requestsPerMinute: 1 } },
        { name: 'open', secret: keyOf('open') },
      ],
    },
    both: {
      limits: { requestsPerMinute: 10, tokensPerMinute: 1000 },
      keys: [{ name: 'k', secret: keyOf('both'), limits: { requestsPerMinute: 5 } }],
    },
    curious: { limits: { requestsPerMinute: 2 }, keys: [{ name: 'k', secret: keyOf('curious') }] },
    careless: { limits: { requestsPerMinute: 3 }, keys: [{ name: 'k', secret: keyOf('careless') }] },
    refused: { limits: { requestsPerMinute: 2 }, keys: [{ name: 'k', secret: keyOf('refused') }] },
    refunded: { limits: { tokensPerMinute: 100 }, keys: [{ name: 'k', secret: keyOf('refunded') }] },
  },
})

const ask = (name: string, count = 1, model = 'plain-w16'): Promise<Asked> =>
  gateway.ask({ model, input: Array.from({ length: count }, (_, index) => index) }, { key: keyOf(name) })
const rate = ({ headers }: Asked, what: string): string | null => headers.get(`x-ratelimit-${what}`)
const calls = (): number => gateway.provider.counters().calls

/** `1m0s`, `29.8s`, `850ms`: never more than it should be, and less only by the time the test itself took. */
function assertAbout(text: string | null | undefined, expectedMs: number): void {
  const [, minutes = '0', seconds = '0', ms = '0'] =
    /^(?:(\d+)m(?!s))?(?:([\d.]+)s)?(?:(\d+)ms)?$/.exec(text ?? '') ?? []
  const lasts = Number(minutes) * 60_000 + Number(seconds) * 1000 + Number(ms)
  assert.ok(lasts <= expectedMs && lasts > expectedMs - 10_000, `${text} instead of ${expectedMs} ms`)
}

test('a limit of requests: the answer says what is left, the refusal says which limit, how much it allows and when', async () => {
  const first = await ask('few')
  assert.equal(first.status, 200)
  assert.deepEqual(
    ['limit-requests', 'remaining-requests'].map((what) => rate(first, what)),
    ['2', '1'],
  )
  assertAbout(rate(first, 'reset-requests'), 30_000)
  assert.equal(rate(await ask('few'), 'remaining-requests'), '0')

  const callsBefore = calls()
  const refused = await ask('few')
  assertFault(refused, 'rate_limit_exceeded', {
    words:
      /^The rate limit of project 'few' \(2 requests per minute\) has 0 left; this request needs 1\. Retry in \d+\.\d s\.$/,
  })
  assert.deepEqual([rate(refused, 'limit-requests'), rate(refused, 'remaining-requests')], ['2', '0'])
  assertAbout(rate(refused, 'reset-requests'), 60_000)
  const retryAfterMs = refused.headers.get('retry-after-ms')
  assertAbout(`${retryAfterMs}ms`, 30_000)
  assertAbout(`${/[\d.]+(?= s\.)/.exec(refused.body.error.message)?.[0]}s`, 30_000)
  assert.equal(refused.headers.get('retry-after'), String(Math.ceil(Number(retryAfterMs) / 1000)))
  assert.equal(calls(), callsBefore)
})

test('a limit of tokens: what a request needs is what counts, not how many there are', async () => {
  const first = await ask('small', 60)
  assert.deepEqual([rate(first, 'limit-tokens'), rate(first, 'remaining-tokens')], ['100', '40'])
  assert.equal(rate(first, 'limit-requests'), null)
  assertFault(await ask('small', 60), 'rate_limit_exceeded', {
    words:
      /rate limit of project 'small' \(100 tokens per minute\) has \d\d left; this request needs 60\. Retry in \d+\.\d s/,
  })
  assert.equal((await ask('small', 40)).status, 200)
})

test('more than a whole minute of a limit: no wait would help, and the refusal says so', async () => {
  const refused = await ask('small', 101)
  assertFault(refused, 'request_exceeds_rate_limit', {
    words: /is too low for this request, which needs 101/,
  })
  assert.equal(refused.headers.get('retry-after'), null)
})

test('a key has its own limit beside that of its project, and each is named when it is the one in the way', async () => {
  assert.equal((await ask('tight')).status, 200)
  assertFault(await ask('tight'), 'rate_limit_exceeded', {
    words: /of key 'shared\/tight' \(1 request per minute\)/,
  })
  // A request that its key refused took nothing from the project.
  assert.deepEqual([(await ask('open')).status, (await ask('open')).status], [200, 200])
  assertFault(await ask('open'), 'rate_limit_exceeded', {
    words: /of project 'shared' \(3 requests per minute\)/,
  })
})

test('where key and project both limit, the headers tell of the one with less left', async () => {
  const answer = await ask('both', 7)
  assert.deepEqual(
    ['limit-requests', 'remaining-requests', 'limit-tokens', 'remaining-tokens'].map((what) =>
      rate(answer, what),
    ),
    ['5', '4', '1000', '993'],
  )
})

test('tokens of a request that was not served are given back', async () => {
  assert.equal((await ask('refunded', 90, 'failing-w16')).status, 400)
  assert.equal((await ask('refunded', 90)).status, 200)
})

test('a key without limits gets no rate headers', async () => {
  const answer = await gateway.ask({ model: 'plain-w16', input: 'a' })
  assert.deepEqual(
    [...answer.headers.keys()].filter((name) => name.startsWith('x-ratelimit')),
    [],
  )
})

test('a dry run is a request', async () => {
  const options = { key: keyOf('curious'), headers: { 'x-torana-dry-run': 'true' } }
  const question = { model: 'plain-w16', input: 'a' }
  assert.equal((await gateway.ask(question, options)).status, 200)
  // Refused once, counted once.
  assert.equal((await gateway.ask({ ...question, model: 'none' }, options)).status, 404)
  assertFault(await gateway.ask(question, options), 'rate_limit_exceeded')
})

test('a request that is refused for what it asks is a request, until the limit refuses it', async () => {
  const options = { key: keyOf('careless') }
  assertFault(await gateway.ask('{"model"', options), 'invalid_json')
  assertFault(
    await gateway.ask({ model: 'plain-w16', input: 'a', dimensions: 'x' }, options),
    'invalid_parameter',
  )
  assertFault(await gateway.ask({ model: 'none', input: 'a' }, options), 'model_not_found')
  assertFault(await gateway.ask('{"model"', options), 'rate_limit_exceeded')
  assertFault(await gateway.ask({ model: 'plain-w16', input: 'a' }, options), 'rate_limit_exceeded')
})

test('a request that an upstream refuses counts once', async () => {
  for (let time = 0; time < 2; time += 1) assert.equal((await ask('refused', 1, 'failing-w16')).status, 400)
  assertFault(await ask('refused'), 'rate_limit_exceeded')
})
