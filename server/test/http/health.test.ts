import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startGateway } from '#test/support/gateway.ts'
import { eventually } from '#test/support/process.ts'

const gateway = await startGateway({
  models: { 'slow-w16': { on: 'slow-3000' }, 'gone-w16': { on: 'reset' } },
})

async function statusOf(url: string): Promise<[number, string]> {
  const answer = await fetch(url)
  return [answer.status, await answer.text()]
}

test('both listeners are alive and ready, without a key and whatever the upstreams do', async () => {
  await gateway.ask({ model: 'gone-w16', input: 'a' })
  for (const url of [gateway.url, gateway.controlUrl]) {
    assert.deepEqual(await statusOf(`${url}/livez`), [200, 'ok\n'])
    assert.deepEqual(await statusOf(`${url}/readyz`), [200, 'ok\n'])
  }
})

test('metrics are on the control listener only, and count requests and calls', async () => {
  const [status, text] = await statusOf(`${gateway.controlUrl}/metrics`)
  assert.equal(status, 200)
  assert.match(
    text,
    /torana_requests_total\{route="embeddings",model="gone-w16",status="502",fault="upstream_unreachable"\} 1/,
  )
  assert.match(
    text,
    /torana_upstream_calls_total\{model="gone-w16",deployment="gone-w16\/reset",outcome="unreachable"\} 2/,
  )
  assert.match(text, /torana_build_info\{version="[^"]+",commit="[^"]*"\} 1/)
  assert.equal((await statusOf(`${gateway.url}/metrics`))[0], 404)
})

test('a caller can’t invent labels', async () => {
  await gateway.ask({ model: 'invented-by-a-caller', input: 'a' })
  await gateway.ask({ input: 'a' }, { path: '/v1/engines/invented-by-a-caller/embeddings' })
  await gateway.get('/invented-by-a-caller')
  assert.doesNotMatch((await statusOf(`${gateway.controlUrl}/metrics`))[1], /invented/)
})

test('a node that stops finishes what it has begun, says that it is not ready, and takes nothing new', async () => {
  const begun = gateway.ask({ model: 'slow-w16', input: 'a' })
  await eventually(async () => assert.equal(gateway.provider.counters().inFlight, 1))
  const stopping = gateway.stop()
  assert.deepEqual(await statusOf(`${gateway.controlUrl}/readyz`), [503, 'draining\n'])
  assert.equal((await begun).status, 200)
  await stopping
  await assert.rejects(fetch(`${gateway.url}/livez`))
  await assert.rejects(fetch(`${gateway.controlUrl}/livez`))
})
