/** How OpenAI's own SDK handles our refusals: it waits for a rate limit, and does not retry an empty budget. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import OpenAI, { RateLimitError } from 'openai'
import { startGateway } from '#test/support/gateway.ts'

const KEYS = { limited: 'sdk-key-with-a-rate-limit-001', poor: 'sdk-key-with-an-empty-budget-1' }

const gateway = await startGateway({
  models: {
    'paid-w16': { on: 'plain', price: { usdPerMillionTokens: 10 }, capabilities: { tokenArrays: true } },
  },
  projects: {
    limited: { limits: { tokensPerMinute: 60 }, keys: [{ name: 'k', secret: KEYS.limited }] },
    poor: { budget: { usd: 0.00001, per: 'total', hard: true }, keys: [{ name: 'k', secret: KEYS.poor }] },
  },
})
const calls = (): number => gateway.provider.counters().calls

/** A client that records what it sends and the waits that it is given. */
function clientOf(apiKey: string, maxRetries: number) {
  const waitsMs: (number | undefined)[] = []
  const noting: typeof fetch = async (input, init) => {
    const answer = await fetch(input, init)
    const waitMs = answer.headers.get('retry-after-ms')
    waitsMs.push(waitMs === null ? undefined : Number(waitMs))
    return answer
  }
  const client = new OpenAI({ apiKey, maxRetries, baseURL: `${gateway.url}/v1`, fetch: noting })
  return { client, waitsMs }
}

const tokens = (count: number): number[] => Array.from({ length: count }, (_, index) => index)

async function failureOf(work: Promise<unknown>): Promise<RateLimitError> {
  const error = await work.then(
    () => undefined,
    (error: unknown) => error,
  )
  assert.ok(error instanceof RateLimitError)
  return error
}

test('the SDK sees a rate limit as a RateLimitError, waits as long as the answer says and is served', async () => {
  const ask = (client: OpenAI, count: number) =>
    client.embeddings.create({ model: 'paid-w16', input: tokens(count) })
  const emptiedMs = performance.now()
  await ask(clientOf(KEYS.limited, 0).client, 60)
  const refusal = await failureOf(ask(clientOf(KEYS.limited, 0).client, 2))
  assert.deepEqual(
    [refusal.status, refusal.code, refusal.type],
    [429, 'rate_limit_exceeded', 'rate_limit_error'],
  )

  const { client, waitsMs } = clientOf(KEYS.limited, 1)
  const startedMs = performance.now()
  const { data } = await ask(client, 2)
  const tookMs = performance.now() - startedMs
  assert.equal(data.length, 1)
  // Two tokens take two seconds. By its own rule the SDK would come back after half a second, and be refused again.
  const [waitMs = 0, ...others] = waitsMs
  assert.deepEqual(others, [undefined])
  assert.ok(waitMs > 0 && waitMs <= 2000, `${waitMs} ms`)
  const passedMs = startedMs + tookMs - emptiedMs
  assert.ok(passedMs >= 2000, `served after ${passedMs} ms`)
  assert.ok(tookMs >= waitMs, `${tookMs} ms for a wait of ${waitMs} ms`)
  assert.equal(calls(), 2, 'a refusal made a call')
})

test('the SDK does not retry an exhausted budget', async () => {
  const callsBefore = calls()
  const { client, waitsMs } = clientOf(KEYS.poor, 3)
  const refusal = await failureOf(client.embeddings.create({ model: 'paid-w16', input: tokens(2) }))
  assert.deepEqual([refusal.status, refusal.code], [429, 'budget_exhausted'])
  assert.match(refusal.message, /project poor .* has \$0\.00001 left/)
  assert.deepEqual(waitsMs, [undefined], 'it was sent again')
  assert.equal(calls(), callsBefore)
})
