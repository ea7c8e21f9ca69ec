/** `torana start --workers`: several processes behind one pair of ports, as one node would be. */
import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { openPostgres } from '#stores/postgres/database.ts'
import { configText, GATEWAY_KEY, gatewayEnvironment } from '#test/support/gateway.ts'
import { eventually, runTorana, startTorana, temporaryFolder, type Torana } from '#test/support/process.ts'
import { testPostgres } from '#test/support/servers.ts'
import { startFakeProvider } from '../../../lab/fake-provider/server.ts'

const [provider, { url: databaseUrl }] = await Promise.all([startFakeProvider(), testPostgres()])
const database = openPostgres(databaseUrl, { poolSize: 2 })
after(() => Promise.all([provider.close(), database.close()]))

const folder = temporaryFolder()
const config = {
  models: { 'plain-w16': { on: 'plain' }, 'slow-w16': { on: 'slow-2000' } },
  limits: { stopDelayMs: 300, drainMs: 8000 },
}
writeFileSync(join(folder, 'torana.yaml'), configText(config, provider.url))

function startWorkers(workers: number): Promise<Torana> {
  return startTorana({
    folder,
    args: ['start', '--workers', String(workers)],
    env: gatewayEnvironment(folder, {
      DATABASE_URL: databaseUrl,
      TORANA_SECRET: 'the same secret on every node',
    }),
  })
}

/** The status; rejects when the connection breaks. */
function ask(url: string, model: string, agent?: Agent): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>()
  const asking = request(`${url}/v1/embeddings`, {
    method: 'POST',
    agent: agent ?? false,
    headers: { authorization: `Bearer ${GATEWAY_KEY}`, 'content-type': 'application/json' },
  })
  asking.on('error', reject)
  asking.on('response', (answer) => {
    answer.resume().on('end', () => resolve(answer.statusCode ?? 0))
    answer.on('error', reject)
  })
  asking.end(JSON.stringify({ model, input: 'a text' }))
  return promise
}

function childrenOf(pid: number): number[] {
  const text = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim()
  return text === '' ? [] : text.split(' ').map(Number)
}

function isAlive(pid: number): boolean {
  try {
    // A process that has ended and is not yet waited for is dead.
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
  } catch {
    return false
  }
}

async function scrape(controlUrl: string): Promise<string> {
  return (await fetch(`${controlUrl}/metrics`)).text()
}

function requestsIn(metrics: string): number {
  const [, count] =
    /^torana_requests_total\{[^}]*model="plain-w16"[^}]*status="200"[^}]*\} (\d+)/m.exec(metrics) ?? []
  return Number(count ?? 0)
}

test('workers share the ports, are replaced and die without a request lost, count as one, and end together', async () => {
  const torana = await startWorkers(2)
  const first = childrenOf(torana.pid)
  assert.equal(first.length, 2)
  const agent = new Agent({ keepAlive: true, maxSockets: 4 })
  after(() => agent.destroy())
  let answered = 0
  const failures: unknown[] = []
  const over = new AbortController()
  after(() => over.abort())
  const client = async (kept: Agent | undefined): Promise<void> => {
    while (!over.signal.aborted) {
      const status = await ask(torana.url, 'plain-w16', kept).catch((error: unknown) => error)
      if (status === 200) answered += 1
      else failures.push(status)
      // A client without pauses would take the processor that the workers need to start.
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  }
  const clients = [client(agent), client(agent), client(undefined)]
  const slow = ask(torana.url, 'slow-w16')
  torana.signal('SIGHUP')
  await eventually(async () => {
    const now = childrenOf(torana.pid)
    assert.ok(now.length === 2 && now.every((pid) => !first.includes(pid)), torana.stdout())
  })
  assert.equal(await slow, 200)
  over.abort()
  await Promise.all(clients)
  assert.deepEqual(failures, [])
  assert.ok(answered > 0)

  // Those of replaced workers count.
  const metrics = await scrape(torana.controlUrl)
  assert.equal(requestsIn(metrics), answered)
  for (const worker of [1, 2])
    assert.match(
      metrics,
      new RegExp(`^torana_process_resident_memory_bytes\\{worker="${worker}"\\} \\d+$`, 'm'),
    )

  const [victim = 0] = childrenOf(torana.pid)
  process.kill(victim, 'SIGKILL')
  await eventually(async () => {
    const now = childrenOf(torana.pid)
    assert.ok(now.length === 2 && !now.includes(victim))
    assert.equal(await ask(torana.url, 'plain-w16'), 200)
    const later = await scrape(torana.controlUrl)
    assert.ok(requestsIn(later) >= answered, 'what a dead worker was known to have counted is kept')
  })

  const last = childrenOf(torana.pid)
  torana.signal('SIGTERM')
  assert.equal(await torana.ended(), 0, torana.stdout())
  assert.deepEqual(last.filter(isAlive), [])
  await eventually(async () => {
    const rows = await database.query<{ node_id: string }>('SELECT node_id FROM nodes WHERE ended_at IS NULL')
    // The one that was killed is ended by the next process on its folder.
    assert.ok(rows.length <= 1)
  })
})

test('a connection that was handed to a worker which dies before it takes it is answered by another one', async () => {
  const torana = await startWorkers(2)
  const [victim = 0] = childrenOf(torana.pid)
  process.kill(victim, 'SIGSTOP')
  const asked = Array.from({ length: 4 }, () => ask(torana.url, 'plain-w16'))
  let answered = 0
  for (const one of asked) void one.then(() => (answered += 1))
  // The other worker answers all but the one that was handed to this one.
  await eventually(async () => assert.equal(answered, asked.length - 1))
  process.kill(victim, 'SIGKILL')
  assert.deepEqual(await Promise.all(asked), [200, 200, 200, 200])
  torana.signal('SIGTERM')
  assert.equal(await torana.ended(), 0, torana.stdout())
})

test('when the only worker dies, connections on both ports wait for the next one: none is refused', async () => {
  const torana = await startWorkers(1)
  const [victim = 0] = childrenOf(torana.pid)
  process.kill(victim, 'SIGKILL')
  // Connections that arrive before the supervisor has noticed are lost with the worker.
  await eventually(async () => assert.match(torana.stdout(), /a worker ended by itself/))
  const begun = performance.now()
  const asked: Promise<number>[] = []
  while (performance.now() - begun < 1500) {
    asked.push(ask(torana.url, 'plain-w16'))
    asked.push(fetch(`${torana.controlUrl}/livez`).then(({ status }) => status))
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  assert.deepEqual([...new Set(await Promise.all(asked))], [200])
  assert.ok(asked.length > 20)
  assert.equal(await ask(torana.url, 'plain-w16'), 200)
  torana.signal('SIGTERM')
  assert.equal(await torana.ended(), 0, torana.stdout())
})

test('when the supervisor is killed, its workers end what they have and leave', async () => {
  const torana = await startWorkers(2)
  const workers = childrenOf(torana.pid)
  const callsBefore = provider.counters().calls
  const slow = ask(torana.url, 'slow-w16')
  await eventually(async () => assert.ok(provider.counters().calls > callsBefore))
  process.kill(torana.pid, 'SIGKILL')
  assert.equal(await slow, 200)
  await eventually(async () => assert.deepEqual(workers.filter(isAlive), []))
})

for (const [what, args, env, words] of [
  [
    'workers on the database inside',
    ['--workers', 'auto'],
    {},
    /^TORANA_WORKERS: .*needs PostgreSQL.*PGlite/,
  ],
  [
    'a role on the database inside',
    ['--role', 'gateway'],
    {},
    /^TORANA_ROLE: .*"gateway" needs PostgreSQL.*PGlite/,
  ],
  ['a role that does not exist', ['--role', 'gatway'], {}, /^TORANA_ROLE: expected .*Did you mean "?gateway/],
  [
    'no number of workers',
    ['--workers', '0'],
    {},
    /^TORANA_WORKERS: expected auto, or a whole number from 1 to 256, got "0"/,
  ],
] as const) {
  test(`${what}: refused in one sentence`, async () => {
    const torana = runTorana({ folder: temporaryFolder(), args: ['start', ...args], env })
    assert.equal(await torana.exit, 1, torana.stdout())
    assert.match(torana.stderr(), words)
    assert.equal(torana.stderr().trim().split('\n').length, 1)
  })
}
