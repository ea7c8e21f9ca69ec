/** The public port of a node with PostgreSQL is open only while the node can serve: many balancers only try to connect. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { existsSync, writeFileSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { askAt, doorTo } from '#test/support/cluster.ts'
import { configText, GATEWAY_KEY, gatewayEnvironment } from '#test/support/gateway.ts'
import { eventually, runTorana, temporaryFolder } from '#test/support/process.ts'
import { freePort, testPostgres } from '#test/support/servers.ts'
import { startFakeProvider } from '../../../lab/fake-provider/server.ts'

const [provider, postgres] = await Promise.all([startFakeProvider(), testPostgres()])
after(() => provider.close())

const MODELS = { 'plain-w16': { on: 'plain' } }

/** How a try to connect ends. */
async function knock(port: number): Promise<string> {
  const socket = connect(port, '127.0.0.1')
  try {
    await once(socket, 'connect')
    return 'taken'
  } catch (error) {
    return String((error as NodeJS.ErrnoException).code)
  } finally {
    socket.destroy()
  }
}

async function readyz(port: number): Promise<[number, string] | undefined> {
  const answer = await fetch(`http://127.0.0.1:${port}/readyz`).catch(() => undefined)
  return answer && [answer.status, await answer.text()]
}

async function startOn(databaseUrl: string, folder: string, models: object = MODELS) {
  const [port, controlPort] = [await freePort(), await freePort()]
  writeFileSync(join(folder, 'torana.yaml'), configText({ models } as never, provider.url))
  const env = gatewayEnvironment(folder, {
    DATABASE_URL: databaseUrl,
    TORANA_SECRET: 'the same secret on every node',
    PORT: String(port),
    CONTROL_PORT: String(controlPort),
  })
  return { ...runTorana({ folder, env }), port, controlPort }
}

test('with PostgreSQL the public port refuses connections until the node can serve, and never says that the node starts', async () => {
  // A start of two seconds: it waits this long for the first probe of a guarded deployment.
  const slow = { 'slow-w16': { on: 'slow-3000', spaceGuard: true }, ...MODELS }
  const { port, controlPort, child, exit } = await startOn(postgres.url, temporaryFolder(), slow)
  const seen = new Set<string>()
  let said: [number, string] | undefined
  for (let isOpen = false; !isOpen;) {
    said = await readyz(controlPort)
    const knocked = await knock(port)
    isOpen = knocked === 'taken'
    seen.add(knocked)
    if (said?.[0] === 200) assert.ok(isOpen, 'the control port says ready, and the public one is shut')
    if (!isOpen && said !== undefined) assert.deepEqual(said, [503, 'starting\n'])
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
  const answer = await askAt(
    `http://127.0.0.1:${port}`,
    { model: 'plain-w16', input: 'a' },
    { key: GATEWAY_KEY },
  )
  assert.equal(answer.status, 200)
  assert.deepEqual([...seen], ['ECONNREFUSED', 'taken'])
  assert.ok(said !== undefined, 'the control port answers probes meanwhile')
  child.kill('SIGTERM')
  assert.equal(await exit, 0)
})

test('a public port in use is reported before anything else is opened', async () => {
  const other = createServer().listen(0, '127.0.0.1')
  await once(other, 'listening')
  after(() => other.close())
  const { port } = other.address() as { port: number }
  const folder = temporaryFolder()
  const dataDir = join(folder, 'data')
  // Nothing answers there: a node that got this far would wait.
  const unreachable = {
    DATABASE_URL: 'postgres://127.0.0.1:1/none',
    TORANA_SECRET: 'the same secret on every node',
  }
  const env = { ...unreachable, HOST: '127.0.0.1', PORT: String(port), TORANA_DATA_DIR: dataDir }
  const torana = runTorana({ folder, env })
  assert.equal(await torana.exit, 1)
  assert.match(torana.stderr(), new RegExp(`^torana: .*:${port} is in use by another program`))
  assert.equal(existsSync(dataDir), false)
})

test('a node that has never read the stored keys is not ready and takes no connections; one with a copy of them is', async () => {
  const door = await doorTo(Number(new URL(postgres.url).port))
  const through = new URL(postgres.url)
  through.port = String(door.port)
  const folder = temporaryFolder()
  const first = await startOn(through.href, folder)
  const reason = await eventually(async () => {
    const [status, text = ''] = (await readyz(first.controlPort)) ?? []
    assert.ok(status === 503 && text !== 'starting\n')
    return text
  })
  assert.match(reason, /has not read the stored keys yet: PostgreSQL is unreachable/)
  assert.ok(
    first
      .stderr()
      .includes(`PostgreSQL at ${through.host} is unreachable; Torana keeps trying. No request is served`),
    'a person at the terminal reads it in one line',
  )
  assert.doesNotMatch(first.stdout(), /\.ts:\d+/, 'an outage is logged without stack traces')
  assert.equal(await knock(first.port), 'ECONNREFUSED')
  await door.open()
  await eventually(async () => assert.equal(await knock(first.port), 'taken'))
  assert.deepEqual(await readyz(first.port), [200, 'ok\n'])
  // The copy is written with the first refresh.
  await eventually(async () => assert.ok(existsSync(join(folder, 'data', 'keys.packed')), 'a copy'))
  first.child.kill('SIGTERM')
  assert.equal(await first.exit, 0)
  door.shut()
  const second = await startOn(through.href, folder)
  await eventually(async () => assert.equal(await knock(second.port), 'taken'))
  assert.deepEqual(await readyz(second.port), [200, 'ok\n'])
  assert.match(second.stderr(), /is unreachable; Torana keeps trying. Requests with known keys are served/)
  second.child.kill('SIGTERM')
  assert.equal(await second.exit, 0)
})
