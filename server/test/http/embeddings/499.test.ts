/** Callers that leave: nothing more is bought for them, and nothing says that they were answered. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { GATEWAY_KEY, startGateway } from '#test/support/gateway.ts'
import { eventually } from '#test/support/process.ts'

const gateway = await startGateway({
  models: {
    // One call at a time, for all requests.
    'line-w16': { on: 'slow-1500+mode-line', deploymentLimits: { concurrency: 1 } },
    // One text per call, one call at a time for each request.
    'parts-w16': { on: 'slow-1500+mode-parts', capabilities: { maxInputs: 1, maxParallelCalls: 1 } },
    'batch-w16': {
      on: 'slow-1500+mode-batch',
      deploymentLimits: { concurrency: 1 },
      microBatch: { maxWaitMs: 1, maxItems: 8 },
    },
    'single-w16': { on: 'slow-1500+mode-single' },
  },
  limits: { queueWaitMs: 60_000 },
})

function ask(model: string, input: string | readonly string[], signal?: AbortSignal): Promise<number> {
  return fetch(`${gateway.url}/v1/embeddings`, {
    method: 'POST',
    signal: signal ?? null,
    headers: { authorization: `Bearer ${GATEWAY_KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model, input }),
  }).then(
    async (answer) => (await answer.arrayBuffer(), answer.status),
    () => 0,
  )
}

async function left(model: string): Promise<number> {
  const metrics = await (await fetch(`${gateway.controlUrl}/metrics`)).text()
  const line = `torana_requests_total\\{route="embeddings",model="${model}",status="499",fault="client_closed_request"\\} (\\d+)`
  return Number(new RegExp(line).exec(metrics)?.[1] ?? 0)
}

async function waiting(model: string): Promise<number> {
  const metrics = await (await fetch(`${gateway.controlUrl}/metrics`)).text()
  return Number(new RegExp(`torana_requests_waiting\\{model="${model}"\\} (\\d+)`).exec(metrics)?.[1] ?? 0)
}

// Texts in one micro-batch are one call in the queue, so the arrival of several could not be seen.
for (const [model, texts] of [
  ['line-w16', ['one', 'two', 'three']],
  ['batch-w16', ['one']],
] as const) {
  test(`${model}: a caller that leaves the queue is not bought for`, async () => {
    const mode = model.slice(0, -'-w16'.length)
    const callsBefore = gateway.provider.mode(mode).calls
    const first = ask(model, 'the first')
    await eventually(async () => assert.equal(gateway.provider.mode(mode).calls, callsBefore + 1))
    const leaving = new AbortController()
    const others = texts.map((text) => ask(model, text, leaving.signal))
    await eventually(async () => assert.equal(await waiting(model), texts.length))
    leaving.abort()
    assert.deepEqual(
      await Promise.all(others),
      texts.map(() => 0),
    )
    assert.equal(await first, 200)
    await eventually(async () => assert.equal(await left(model), texts.length))
    // The next caller gets its turn, so the queue is empty.
    assert.equal(await ask(model, 'the last'), 200)
    assert.equal(gateway.provider.mode(mode).calls, callsBefore + 2)
  })
}

test('between the calls of one request: the call under way ends, and no other begins', async () => {
  const leaving = new AbortController()
  const asked = ask('parts-w16', ['one', 'two', 'three', 'four', 'five'], leaving.signal)
  await eventually(async () => assert.equal(gateway.provider.mode('parts').calls, 1))
  leaving.abort()
  assert.equal(await asked, 0)
  await eventually(async () => assert.equal(await left('parts-w16'), 1))
  assert.equal(gateway.provider.mode('parts').calls, 1)
})

test('a caller that left during its only call is not recorded as answered', async () => {
  const leaving = new AbortController()
  const asked = ask('single-w16', 'one', leaving.signal)
  await eventually(async () => assert.equal(gateway.provider.mode('single').calls, 1))
  leaving.abort()
  assert.equal(await asked, 0)
  await eventually(async () => assert.equal(await left('single-w16'), 1))
})
