/** A process that receives a stop signal: at any moment of its start, and whatever its clients do. */
import assert from 'node:assert/strict'
import { Agent, request } from 'node:http'
import { after, test } from 'node:test'
import { startGatewayToStop, startHouse } from './house.ts'
import { stopWithStalls } from './stalls.ts'
import { doorTo, startNodeProcess } from '../../../server/test/support/cluster.ts'
import { GATEWAY_KEY } from '../../../server/test/support/gateway.ts'
import { eventually, temporaryFolder } from '../../../server/test/support/process.ts'
import { testPostgres } from '../../../server/test/support/servers.ts'

const house = await startHouse(temporaryFolder(), (await testPostgres()).url)
after(() => house.close())

test('clients that don’t read, don’t send, or say nothing hold up no stop; pictures on their way are answered', async () => {
  const end = await stopWithStalls(house, { readers: 5, writers: 5, jobs: 3 })
  assert.equal(end.code, 0, end.output)
  assert.deepEqual(end.pictures, [200, 200, 200])
  assert.equal(end.served, end.inLedger)
  assert.deepEqual(end.left, [])
  assert.match(end.output, /"message":"stopped"/)
})

test('a start that receives a stop signal ends with 0 and leaves nothing', async () => {
  for (const afterMs of [300, 700, 1100, 1500, 2000]) {
    const gateway = await startGatewayToStop(house)
    await new Promise((resolve) => setTimeout(resolve, afterMs))
    const { code, left, output } = await gateway.stop()
    assert.ok(code === 0 || (code === 'SIGTERM' && output === ''), `${afterMs} ms: ${code} ${output}`)
    assert.deepEqual(left, [], `${afterMs} ms`)
  }
})

const models = { 'plain-w16': { on: 'plain' } }

test('where /readyz is asked for, the node says 503 there first, and takes requests for a while', async () => {
  const node = await startNodeProcess({ models, limits: { stopDelayMs: 4000 } }, house.provider.url)
  assert.equal((await fetch(`${node.url}/readyz`)).status, 200)
  node.child.kill('SIGTERM')
  await eventually(async () => assert.equal((await fetch(`${node.url}/readyz`)).status, 503))
  const answer = await fetch(`${node.url}/v1/embeddings`, {
    method: 'POST',
    headers: { authorization: `Bearer ${GATEWAY_KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'plain-w16', input: 'a' }),
  })
  await answer.arrayBuffer()
  assert.deepEqual([answer.status, answer.headers.get('connection')], [200, 'close'])
  assert.equal(await node.exit, 0)
})

test('where no balancer asks for /readyz, the node refuses connections at once, and answers what comes on those that are open', async () => {
  const node = await startNodeProcess({ models, limits: { stopDelayMs: 60_000 } }, house.provider.url)
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  assert.deepEqual(await askOn(node.url, agent), [200, 'keep-alive'])
  node.child.kill('SIGTERM')
  await eventually(() => assert.rejects(askOn(node.url), { code: 'ECONNREFUSED' }))
  assert.equal(node.child.exitCode, null)
  assert.deepEqual(await askOn(node.url, agent), [200, 'close'])
  assert.equal(await node.exit, 0)
})

/** The status, and the state of the connection. */
function askOn(url: string, agent?: Agent): Promise<[number | undefined, string | undefined]> {
  const { promise, resolve, reject } = Promise.withResolvers<[number | undefined, string | undefined]>()
  const headers = { authorization: `Bearer ${GATEWAY_KEY}`, 'content-type': 'application/json' }
  request(`${url}/v1/embeddings`, { method: 'POST', agent: agent ?? false, headers })
    .on('error', reject)
    .on('response', (answer) => {
      answer.resume().on('end', () => resolve([answer.statusCode, answer.headers.connection]))
    })
    .end(JSON.stringify({ model: 'plain-w16', input: 'a' }))
  return promise
}

for (const [what, signal, asked] of [
  ['without a question for /readyz and without a connection', 'SIGTERM', '/livez'],
  ['a person at a terminal', 'SIGINT', '/readyz'],
] as const) {
  test(`${what}: the node does not wait for load balancers`, async () => {
    // An hour, which no test waits.
    const limits = { stopDelayMs: 3_600_000, drainMs: 3_600_000 }
    const node = await startNodeProcess({ models, limits }, house.provider.url)
    await (await fetch(`${node.url}${asked}`, { headers: { connection: 'close' } })).arrayBuffer()
    node.child.kill(signal)
    // As a terminal and npm do.
    node.child.kill(signal)
    assert.equal(await node.exit, 0)
    assert.match(node.stdout(), /"message":"stopped"/)
  })
}

test('a database that goes away meanwhile holds up no stop and is no crash', async () => {
  const { url } = await testPostgres()
  const door = await doorTo(Number(new URL(url).port))
  await door.open()
  const through = new URL(url)
  through.port = String(door.port)
  const env = { DATABASE_URL: through.href }
  for (const afterMs of [0, 500, 1500]) {
    const node = await startNodeProcess({ models, limits: { stopDelayMs: 1000 } }, house.provider.url, {
      env,
    })
    assert.equal((await fetch(`${node.url}/readyz`)).status, 200)
    node.child.kill('SIGTERM')
    await new Promise((resolve) => setTimeout(resolve, afterMs))
    door.shut()
    assert.equal(await node.exit, 0, `${afterMs} ms: ${node.stderr()}`)
    assert.doesNotMatch(node.stderr(), /Error:|^ +at /m)
    await door.open()
  }
})
