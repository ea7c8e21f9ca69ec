/** Inputs made to be slow: each is answered or refused, and the event loop of the gateway goes on meanwhile. */
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { hostileTexts } from '#test/contract/token-counter.ts'
import { configText, GATEWAY_KEY, gatewayEnvironment } from '#test/support/gateway.ts'
import { startTorana, temporaryFolder } from '#test/support/process.ts'
import { startFakeProvider } from '../../../tools/fake-provider/server.ts'

/** The longest the event loop may be held by one request. */
const MAX_HOLD_MS = 100
/** Of several measurements the best: what the request holds is held each time, what the machine's other work holds is not. */
const MEASUREMENTS = 3

const provider = await startFakeProvider()
after(() => provider.close())
const folder = temporaryFolder()
const models = {
  // Must count, and refuse.
  'short-w16': {
    on: 'plain',
    embedding: { maxInputTokens: 512, tokenizer: 'cl100k_base', tokenCounts: 'exact' },
  },
  // Must count to tell the usage, and answer.
  'silent-w16': { on: 'no-usage', embedding: { tokenizer: 'cl100k_base', tokenCounts: 'exact' } },
  // Must decode, and answer.
  'texts-w16': { on: 'refuses-token-arrays' },
}
writeFileSync(join(folder, 'torana.yaml'), configText({ models }, provider.url))
// A process of its own, so that nobody else's work is measured.
const torana = await startTorana({ folder, env: gatewayEnvironment(folder, { LOG_LEVEL: 'silent' }) })

async function longestHoldMs(): Promise<number> {
  const metrics = await (await fetch(`${torana.controlUrl}/metrics`)).text()
  const seconds = /^torana_nodejs_eventloop_lag_max_seconds (\S+)$/m.exec(metrics)?.[1]
  assert.ok(seconds, 'the metric is there')
  return Number(seconds) * 1000
}

async function ask(body: string): Promise<number> {
  const answer = await fetch(`${torana.url}/v1/embeddings`, {
    method: 'POST',
    headers: { authorization: `Bearer ${GATEWAY_KEY}`, 'content-type': 'application/json' },
    body,
  })
  await answer.arrayBuffer()
  return answer.status
}

/** Every metric of the event loop begins anew when it has been read. */
async function assertFree(question: unknown, status: number): Promise<void> {
  const body = JSON.stringify(question)
  let best = Infinity
  for (let measurement = 0; measurement < MEASUREMENTS && best > MAX_HOLD_MS / 2; measurement += 1) {
    await longestHoldMs()
    assert.equal(await ask(body), status)
    best = Math.min(best, await longestHoldMs())
  }
  assert.ok(best < MAX_HOLD_MS, `held for ${best} ms`)
}

for (const [title, text] of Object.entries(hostileTexts)) {
  test(`${title}: refused where it is too long, answered where it is not`, async () => {
    await assertFree({ model: 'short-w16', input: text }, 400)
    await assertFree({ model: 'silent-w16', input: ['short', text] }, 200)
  })
}

test('a token array of 100,000 ids is refused where it is too long, answered where it is not', async () => {
  const input = Array.from({ length: 100_000 }, (_, index) => index)
  await assertFree({ model: 'short-w16', input }, 400)
  await assertFree({ model: 'texts-w16', input }, 200)
  await assertFree({ model: 'texts-w16', input: [input.slice(0, 50_000), input.slice(50_000)] }, 200)
})

test('2,048 long texts are counted and answered', async () => {
  const input = Array.from({ length: 2048 }, (_, index) => `${index} ${'word '.repeat(700)}`)
  await assertFree({ model: 'silent-w16', input }, 200)
})

test('a large body of quotes, or of brackets without end, is refused', async () => {
  await assertFree({ model: 'short-w16', input: '"'.repeat(3_000_000) }, 400)
  let best = Infinity
  for (let measurement = 0; measurement < MEASUREMENTS; measurement += 1) {
    await longestHoldMs()
    assert.equal(await ask('['.repeat(4_000_000)), 400)
    best = Math.min(best, await longestHoldMs())
  }
  assert.ok(best < MAX_HOLD_MS, `held for ${best} ms`)
})
