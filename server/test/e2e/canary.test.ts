/**
 * One long run with every possible failure, with secrets that would be recognised anywhere. Afterwards they are searched
 * for in every log line, table, key and file.
 */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { openPostgres } from '#stores/postgres/database.ts'
import { connectRedis, doorTo, startNodeProcess, type NodeProcess } from '#test/support/cluster.ts'
import { configText, type GatewayOptions } from '#test/support/gateway.ts'
import { eventually } from '#test/support/process.ts'
import { around, formsOf, tablesOf, textsIn } from '#test/support/search.ts'
import { startRedisServer, testPostgres } from '#test/support/servers.ts'
import { startFakeProvider } from '../../../lab/fake-provider/server.ts'

/** The part of each secret that is searched for: the ends of a key may be shown, and the text around it reveals nothing. */
const cores: Record<string, string> = {}
function canary(what: string): string {
  const core = randomBytes(12).toString('hex')
  cores[what] = core
  return core
}

const SECRET = {
  prompt: `a prompt with ${canary('the prompt')} in it`,
  fileKey: `file-key-${canary('a key of torana.yaml')}-0001`,
  bootstrapKey: `bootstrap-${canary('the key of the environment')}-0001`,
  poorKey: `poor-key-${canary('a key without money')}-0001`,
  broughtKey: `brought-${canary('a key brought to the control API')}-0001`,
  wrongKey: `wrong-key-${canary('a key that nobody knows')}-0001`,
  upstreamKey: `sk-${canary('the credential of an upstream')}`,
  storedCredential: `sk-${canary('a credential in the store')}`,
  adminToken: `admin-${canary('the admin token')}-0001`,
  wrongToken: `admin-${canary('a wrong admin token')}-0001`,
  toranaSecret: `secret-${canary('TORANA_SECRET')}-0001`,
  databasePassword: canary('the password of DATABASE_URL'),
  redisPassword: canary('the password of REDIS_URL'),
}
// Made on the way.
Object.assign(cores, { 'a key that was made': '', 'a key that was rotated': '' })
/** Not secret, and to be found wherever secrets are searched for: otherwise the search did not look. */
const PROJECT = `project-${randomBytes(6).toString('hex')}`

/** Repeats in its errors all that it was sent, as some upstreams do. */
const echo = createServer((request, response) => {
  let body = ''
  request.on('data', (chunk: Buffer) => (body += chunk.toString()))
  request.once('end', () => {
    const message = `no: ${request.headers.authorization} sent ${body}`
    const status = Number(/\d{3}/.exec(request.url ?? '')?.[0])
    response.writeHead(status, { 'content-type': 'application/json', 'x-request-id': 'echo' })
    const key = request.headers.authorization?.split(' ')[1]
    response.end(JSON.stringify({ error: { message, code: key, type: 'echo', param: key } }))
  })
}).listen(0, '127.0.0.1')
await once(echo, 'listening')
after(() => echo.close())
const echoUrl = `http://127.0.0.1:${(echo.address() as AddressInfo).port}`

const price = { usdPerMillionTokens: 1 }
const apiKey = SECRET.upstreamKey
const SCENARIOS = [
  'plain',
  'status-500',
  'leaks-key',
  'serves-then-resets',
  'reset',
  'half-body',
  'garbage',
  'wrong-count',
  'no-usage',
]
const ECHOES = [200, 400, 401, 404, 413, 429, 500]
const options: GatewayOptions = {
  models: {
    ...Object.fromEntries(SCENARIOS.map((on) => [`${on}-w16`, { on, price, upstream: { apiKey } }])),
    ...Object.fromEntries(
      ECHOES.map((status) => [
        `echo-${status}-w16`,
        { on: `echo-${status}`, price, upstream: { apiKey, baseUrl: `${echoUrl}/${status}/v1` } },
      ]),
    ),
    'never-w16': { on: 'never', price, upstream: { apiKey } },
    'stored-w16': { on: 'key-stored', price, upstream: { apiKey: undefined } },
  },
  projects: {
    [PROJECT]: {
      keys: [{ name: 'k', secret: SECRET.fileKey }],
      limits: { requestsPerMinute: 10_000 },
      budget: { usd: 10, per: 'total', hard: false },
    },
    poor: {
      keys: [{ name: 'k', secret: SECRET.poorKey, limits: { requestsPerMinute: 2 } }],
      budget: { usd: 0, per: 'total', hard: true },
    },
  },
  limits: { attemptTimeoutMs: 30_000 },
}

const provider = await startFakeProvider()
after(() => provider.close())
const [postgres, redis] = await Promise.all([testPostgres(), startRedisServer()])
const door = await doorTo(Number(new URL(postgres.url).port))
const redisClient = await connectRedis(redis.url)
await redisClient.configSet('requirepass', SECRET.redisPassword)
const database = openPostgres(postgres.url, { poolSize: 2 })
after(() => database.close())

/** Everything that was found, by place and over time. */
const seen = new Map<string, string>()
const answers: string[] = []
let node: NodeProcess

async function start(folder?: string): Promise<NodeProcess> {
  const databaseUrl = new URL(postgres.url)
  databaseUrl.port = String(door.port)
  databaseUrl.password = SECRET.databasePassword
  const env = {
    DATABASE_URL: databaseUrl.href,
    REDIS_URL: `redis://:${SECRET.redisPassword}@127.0.0.1:${redis.port}`,
    TORANA_SECRET: SECRET.toranaSecret,
    TORANA_ADMIN_TOKEN: SECRET.adminToken,
    TORANA_BOOTSTRAP_KEY: SECRET.bootstrapKey,
    LOG_LEVEL: 'trace',
  }
  return startNodeProcess(options, provider.url, { env, ...(folder !== undefined && { folder }) })
}

async function send(url: string, init: RequestInit): Promise<string> {
  const answer = await fetch(url, init)
  const text = `${[...answer.headers].join('\n')}\n${await answer.text()}`
  answers.push(text)
  return text
}

const ask = (model: string, key = SECRET.fileKey, extra: object = {}): Promise<string> =>
  send(`${node.url}/v1/embeddings`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model, input: [SECRET.prompt, `${SECRET.prompt} again`], ...extra }),
  })

const control = async (
  method: string,
  path: string,
  body?: object,
  token = SECRET.adminToken,
): Promise<string> => {
  const answer = await fetch(`${node.controlUrl}/api/v1${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  })
  return answer.text()
}

const rowsOf = (table: string): Promise<string[]> => textsIn(database, table)

/** Those that are there to hold a secret. */
const KEEPERS = new Set(['secret', 'demo.key', 'admin.token'])

/** Files come and go: journals and spools are read while they hold something. */
function readFiles(when: string): void {
  const folder = join(node.folder, 'data')
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile() || KEEPERS.has(entry.name)) continue
    const path = join(entry.parentPath, entry.name)
    seen.set(`file ${path.slice(folder.length + 1)}, ${when}`, readFileSync(path, 'latin1'))
  }
}

function readLog(): void {
  seen.set(`output of process ${node.child.pid}`, node.stdout() + node.stderr())
}

before(async () => {
  // PostgreSQL is unreachable: records go to the spool.
  node = await start()
  await ask('plain-w16')
  await ask('serves-then-resets-w16')
  readFiles('with PostgreSQL away')
  await door.open()
  await eventually(async () => assert.ok((await rowsOf('usage_events')).length >= 2))

  // Keys and credentials of the store.
  await control('POST', '/keys', { project: 'stored', name: 'brought', secret: SECRET.broughtKey })
  const made = await control('POST', '/keys', { project: 'stored', name: 'made' })
  const rotated = await control('POST', '/keys/stored/made/rotate', { overlap_seconds: 60 })
  await control('PUT', '/credentials/key-stored', { secret: SECRET.storedCredential })
  await control('GET', '/keys', undefined, SECRET.wrongToken)
  await control('POST', '/keys', { project: 'stored', name: 'brought', secret: SECRET.broughtKey })
  await control('POST', '/keys', {
    project: 'stored',
    name: 'x',
    secret: SECRET.broughtKey,
    unknown: SECRET.prompt,
  })
  for (const [what, text] of Object.entries({ made, rotated })) {
    const { secret } = JSON.parse(text) as { secret: string }
    // Without its checksum, and without the last characters, which are shown.
    cores[`a key that was ${what}`] = secret.slice(8, 28)
    await eventually(async () => assert.match(await ask('plain-w16', secret), /"object":"list"/))
  }
  await ask('plain-w16', SECRET.broughtKey)
  await eventually(async () => {
    await ask('stored-w16')
    const tails = provider.entries().map(({ authorization }) => authorization)
    assert.ok(tails.includes(SECRET.storedCredential.slice(-4)), 'the stored credential is not in use')
  })

  // Every way to fail, and every way to be refused.
  for (const scenario of SCENARIOS) await ask(`${scenario}-w16`)
  for (const status of ECHOES) await ask(`echo-${status}-w16`)
  await ask('plain-w16', SECRET.bootstrapKey, { user: 'a user', encoding_format: 'base64' })
  for (const key of [SECRET.poorKey, SECRET.poorKey, SECRET.poorKey, SECRET.wrongKey])
    await ask('plain-w16', key)
  await ask(SECRET.prompt)
  await ask('plain-w16', SECRET.fileKey, { dimensions: SECRET.prompt, [SECRET.prompt]: SECRET.prompt })
  const headers = { 'api-key': SECRET.fileKey, 'content-type': 'application/json' }
  await send(`${node.url}/v1/embeddings`, { method: 'POST', headers, body: `{"input": "${SECRET.prompt}` })
  await send(`${node.url}/v1/nothing/${SECRET.prompt}?key=${SECRET.fileKey}`, { method: 'GET', headers })

  // Redis refuses us, PostgreSQL becomes unreachable again, the configuration is wrong.
  await redisClient.configSet('requirepass', 'another one')
  await redisClient.sendCommand(['CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes'])
  await ask('plain-w16')
  await eventually(async () => assert.match(node.stdout(), /Redis \(REDIS_URL\) is unreachable/))
  await redisClient.configSet('requirepass', SECRET.redisPassword)
  door.shut()
  for (const scenario of SCENARIOS) await ask(`${scenario}-w16`)
  await control('GET', '/keys')
  readFiles('with PostgreSQL gone')
  await door.open()
  await eventually(async () => assert.match(node.stdout(), /PostgreSQL is back/))
  const good = configText(options, provider.url)
  const keyLine = `"secret": "${SECRET.poorKey}"`
  for (const bad of [
    good.replace(keyLine, `"secret": "${SECRET.fileKey}", "secrets": "${SECRET.poorKey}"`),
    good
      .replace(keyLine, `"secret": ["${SECRET.poorKey}"]`)
      .replaceAll(`"${apiKey}"`, `{ "key": "${apiKey}" }`),
    good.slice(0, good.indexOf(SECRET.poorKey) + SECRET.poorKey.length),
    good.slice(0, good.indexOf(apiKey) + apiKey.length),
  ]) {
    const refusals = (): number => node.stdout().split('the last good one stays in use').length
    const before = refusals()
    writeFileSync(join(node.folder, 'torana.yaml'), bad)
    node.child.kill('SIGHUP')
    await eventually(async () => assert.ok(refusals() > before, 'a bad configuration was not noticed'))
  }
  writeFileSync(join(node.folder, 'torana.yaml'), good)

  // Killed during a call: only the journal knows of it.
  const lost = ask('never-w16').catch(() => {})
  await eventually(async () => assert.ok(provider.counters().inFlight > 0))
  seen.set('metrics', await (await fetch(`${node.controlUrl}/metrics`)).text())
  node.child.kill('SIGKILL')
  await Promise.all([lost, node.exit])
  readFiles('after a kill')
  readLog()
  node = await start(node.folder)
  await ask('plain-w16')
  await eventually(async () =>
    assert.ok((await rowsOf('usage_events')).some((row) => row.includes('never-w16'))),
  )
  readFiles('after a new start')
  node.child.kill('SIGTERM')
  assert.equal(await node.exit, 0)
  readLog()

  for (const table of await tablesOf(database)) seen.set(`table ${table}`, (await rowsOf(table)).join('\n'))
  for (const key of await redisClient.keys('*'))
    seen.set(`Redis ${key}`, `${key} ${await redisClient.get(key)}`)
})

test('the places that are searched are those where something is kept', () => {
  const places = (prefix: string): string[] =>
    [...seen]
      .filter(([place, text]) => place.startsWith(prefix) && text.includes(PROJECT))
      .map(([place]) => place)
  assert.equal(places('output of process').length, 2)
  for (const prefix of [
    'table public.usage_events',
    'table public.usage_hours',
    'table public.requests',
    'Redis',
  ])
    assert.ok(places(prefix).length > 0, prefix)
  for (const file of [
    /journal-\d+, after a kill/,
    /spool-\d+, with PostgreSQL away/,
    /spool-\d+, with PostgreSQL gone/,
  ])
    assert.ok(
      places('file').some((place) => file.test(place)),
      String(file),
    )
  for (const kept of ['table public.key_secrets', 'table public.upstream_credentials', 'table public.audit'])
    assert.ok((seen.get(kept) ?? '').length > 0, kept)
  assert.ok([...seen.keys()].some((place) => place.includes('keys.packed')))
  assert.ok(seen.get('metrics')?.includes('plain-w16'))
})

for (const what of Object.keys(cores)) {
  test(`${what} is in no log, no table, no key and no file`, () => {
    const core = cores[what] ?? ''
    assert.ok(core.length >= 20)
    for (const form of formsOf(core)) {
      for (const [place, text] of seen)
        assert.ok(!text.includes(form), `${place} holds ${what}: ${around(text, form)}`)
    }
  })
}

test('no answer holds a credential of the gateway, nor another caller’s key', () => {
  // The caller's own input may come back to it.
  const own = new Set([SECRET.prompt, SECRET.fileKey])
  for (const secret of Object.values(SECRET).filter((secret) => !own.has(secret)))
    for (const answer of answers) assert.ok(!answer.includes(secret), around(answer, secret))
})
