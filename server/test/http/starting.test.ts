import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { Listeners } from '#compose/listeners.ts'
import { readEnvironment } from '#config/environment.ts'
import { readText } from '#config/file/variable.ts'
import { startNode } from '#main'
import { configText, GATEWAY_KEY, gatewayEnvironment } from '#test/support/gateway.ts'
import { temporaryFolder } from '#test/support/process.ts'
import { freePort } from '#test/support/servers.ts'
import { startFakeProvider } from '../../../tools/fake-provider/server.ts'

/** A start that takes two seconds: it waits so long for the first probe of a guarded deployment. */
const provider = await startFakeProvider()
const folder = temporaryFolder()
const models = { 'slow-w16': { on: 'slow-3000', spaceGuard: true }, 'plain-w16': { on: 'plain' } }
writeFileSync(join(folder, 'torana.yaml'), configText({ models }, provider.url))
const [port, controlPort] = [await freePort(), await freePort()]
const env = gatewayEnvironment(folder, {
  LOG_LEVEL: 'silent',
  PORT: String(port),
  CONTROL_PORT: String(controlPort),
})
const urls = [`http://127.0.0.1:${port}`, `http://127.0.0.1:${controlPort}`] as const
const settings = readEnvironment(env, folder, readText)
const starting = startNode(settings, env, await Listeners.bind(settings))
after(async () => {
  await (await starting).stop()
  await provider.close()
})

const ask = (url: string): Promise<Response> =>
  fetch(`${url}/v1/embeddings`, {
    method: 'POST',
    headers: { authorization: `Bearer ${GATEWAY_KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'plain-w16', input: 'a' }),
  })

test('while the node starts both ports are bound, say so, and refuse what is asked with 503 and retry-after', async () => {
  for (const url of urls) {
    const [alive, ready, asked] = await Promise.all([fetch(`${url}/livez`), fetch(`${url}/readyz`), ask(url)])
    assert.deepEqual([alive.status, await alive.text()], [200, 'ok\n'])
    assert.deepEqual([ready.status, await ready.text()], [503, 'starting\n'])
    assert.deepEqual([asked.status, asked.headers.get('retry-after')], [503, '1'])
    assert.equal(asked.headers.get('x-should-retry'), 'true')
    const { error } = (await asked.json()) as { error: Record<string, string> }
    assert.equal(error['code'], 'node_starting')
    assert.equal(error['request_id'], asked.headers.get('x-request-id'))
    assert.equal(error['doc_url'], `${urls[0]}/docs/errors/node_starting`)
  }
})

test('once it is ready, the same addresses serve', async () => {
  const { url, controlUrl } = await starting
  assert.deepEqual([url, controlUrl], urls)
  for (const one of urls) assert.equal((await fetch(`${one}/readyz`)).status, 200)
  const answer = await ask(url)
  assert.equal(answer.status, 200)
  await answer.arrayBuffer()
})
