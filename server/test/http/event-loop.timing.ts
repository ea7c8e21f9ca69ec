/** Inputs made to be slow: each is answered or refused, while the event loop of the gateway goes on. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { request, type IncomingMessage } from 'node:http'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { after, test } from 'node:test'
import { hostileTexts } from '#test/contract/token-counter.ts'
import { configText, GATEWAY_KEY, gatewayEnvironment } from '#test/support/gateway.ts'
import { startTorana, temporaryFolder } from '#test/support/process.ts'
import { testPostgres } from '#test/support/servers.ts'
import { startFakeProvider } from '../../../lab/fake-provider/server.ts'

/** Maximum CPU time of one turn of the event loop. */
const MAX_ROUND_MS = 100
/** The best of several measurements counts: the cost of the request is in each, a garbage collection is not. */
const MEASUREMENTS = 5

const provider = await startFakeProvider()
after(() => provider.close())
const folder = temporaryFolder()
const models = {
  // Must count, and refuse.
  'short-w16': {
    on: 'plain',
    embedding: { maxInputTokens: 512, tokenizer: 'cl100k_base', tokenCounts: 'exact' },
  },
  // Must count tokens for the usage, and answer.
  'silent-w16': { on: 'no-usage', embedding: { tokenizer: 'cl100k_base', tokenCounts: 'exact' } },
  // Must decode, and answer.
  'texts-w16': { on: 'refuses-token-arrays' },
}
writeFileSync(join(folder, 'torana.yaml'), configText({ models }, provider.url))
// A process of its own, so that no other work is measured.
const socketPath = join(folder, 'loop')
const torana = await startTorana({
  folder,
  env: gatewayEnvironment(folder, {
    LOG_LEVEL: 'silent',
    LOOP_PROBE_SOCKET: socketPath,
    DATABASE_URL: (await testPostgres()).url,
    TORANA_SECRET: 'the secret of this one node',
  }),
  nodeArgs: ['--import', join(import.meta.dirname, '../support/loop-probe.ts')],
})

/** The longest turn since the last call. */
async function longestRoundMs(): Promise<number> {
  const question = request({ socketPath, agent: false }).end()
  const [answer] = (await once(question, 'response')) as [IncomingMessage]
  return Number(await text(answer))
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

async function assertFree(body: string, status: number): Promise<void> {
  let best = Infinity
  for (let measurement = 0; measurement < MEASUREMENTS && best > MAX_ROUND_MS / 2; measurement += 1) {
    await longestRoundMs()
    assert.equal(await ask(body), status)
    best = Math.min(best, await longestRoundMs())
  }
  assert.ok(best < MAX_ROUND_MS, `held for ${best} ms`)
}

for (const [title, hostile] of Object.entries(hostileTexts)) {
  test(`${title}: refused where it is too long or half a character, answered where it is not`, async () => {
    await assertFree(JSON.stringify({ model: 'short-w16', input: hostile }), 400)
    const status = hostile.isWellFormed() ? 200 : 400
    await assertFree(JSON.stringify({ model: 'silent-w16', input: ['short', hostile] }), status)
  })
}

test('a token array of 100,000 ids is refused where it is too long, answered where it is not', async () => {
  const input = Array.from({ length: 100_000 }, (_, index) => index)
  await assertFree(JSON.stringify({ model: 'short-w16', input }), 400)
  await assertFree(JSON.stringify({ model: 'texts-w16', input }), 200)
  await assertFree(
    JSON.stringify({ model: 'texts-w16', input: [input.slice(0, 50_000), input.slice(50_000)] }),
    200,
  )
})

test('2,048 long texts are counted and answered', async () => {
  const input = Array.from({ length: 2048 }, (_, index) => `${index} ${'word '.repeat(700)}`)
  await assertFree(JSON.stringify({ model: 'silent-w16', input }), 200)
})

test('a large body of quotes, or of brackets without end, is refused', async () => {
  await assertFree(JSON.stringify({ model: 'short-w16', input: '"'.repeat(3_000_000) }), 400)
  await assertFree('['.repeat(4_000_000), 400)
})
