import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { connect, createServer, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { promisify } from 'node:util'
import OpenAI from 'openai'
import { keyForm } from '#core/keys/key.ts'
import { eventually, runTorana, startTorana, temporaryFolder } from '#test/support/process.ts'

const run = promisify(execFile)

function cosine(a: readonly number[], b: readonly number[]): number {
  const dot = a.reduce((sum, value, index) => sum + value * (b[index] ?? 0), 0)
  return dot / (Math.hypot(...a) * Math.hypot(...b))
}

interface Answer {
  readonly data: { readonly embedding: number[] }[]
}

function assertMeaning({ data }: Answer): void {
  const [cat, kitten, car] = data.map(({ embedding }) => embedding) as [number[], number[], number[]]
  assert.equal(cat.length, 512)
  assert.ok(cosine(cat, kitten) > cosine(cat, car), `${cosine(cat, kitten)} against ${cosine(cat, car)}`)
}

/** A first start in an empty folder, with nothing set. */
const folder = temporaryFolder()
// Empty counts as unset: the built-in database, as for a person who sets nothing.
const nothing = { DATABASE_URL: '' }
const torana = await startTorana({ folder, env: nothing })
const key = /Key +(\S+)/.exec(torana.stderr())?.[1] ?? ''
/** As a reader copies it: lines that end in a backslash, and one more. */
const curl = /^ +curl (?:.*\\\n)*.*$/m.exec(torana.stderr())?.[0] ?? ''
/** What the longest secret leaves to a terminal: no line may wrap within it. */
const MAX_LINE = 100

/** With a database inside to be made, and a model to be warmed up. */
const MAX_START_CPU_MS = 30_000

test('is ready after some seconds of a processor, and prints base URL, key and a curl line', () => {
  assert.ok(torana.startedInCpuMs < MAX_START_CPU_MS, `${torana.startedInCpuMs} ms`)
  assert.match(torana.url, /^http:\/\/127\.0\.0\.1:\d+$/)
  assert.equal(keyForm(key), 'torana')
  assert.ok(curl.includes(key) && curl.includes(`${torana.url}/v1/embeddings`))
  const lines = curl.split('\n')
  assert.equal(lines.length, 4)
  assert.ok(lines.every((line) => line.length <= MAX_LINE))
})

test('the curl line works exactly as printed: a cat is more like a kitten than like a car', async () => {
  const { stdout } = await run('bash', ['-c', curl])
  assertMeaning(JSON.parse(stdout) as Answer)
})

test('the log of the first start is a few short lines: what each migration did is for debug', async () => {
  await eventually(async () => assert.match(torana.stdout(), /"message":"ready"/))
  const lines = torana.stdout().trimEnd().split('\n')
  // The package has a database inside that is up to date; sources make one.
  const updates = lines.filter((line) => line.includes('brought up to date'))
  for (const line of updates) assert.match(line, /"migrations":\d+/)
  assert.ok(lines.length <= 1 + updates.length && updates.length <= 1, lines.join('\n'))
  for (const line of lines) assert.ok(line.length < 200, line)
  assert.doesNotMatch(torana.stdout(), /0001-directory/)
})

test('a text that is far too long is refused, as the model tells, and the next text is answered', async () => {
  const client = new OpenAI({ baseURL: `${torana.url}/v1`, apiKey: key, maxRetries: 0 })
  const model = (await client.models.retrieve('demo-embed')) as unknown as {
    readonly capabilities: { readonly max_input_tokens: number }
  }
  assert.equal(model.capabilities.max_input_tokens, 2048)
  const long = client.embeddings.create({ model: 'demo-embed', input: 'cat '.repeat(125_000) })
  await assert.rejects(long, { status: 400, code: 'input_too_long' })
  assert.equal((await client.embeddings.create({ model: 'demo-embed', input: 'cat' })).data.length, 1)
})

test('no other user can read what the node writes, its database included', () => {
  const data = join(folder, '.torana')
  const names = readdirSync(data, { recursive: true }) as string[]
  assert.ok(names.some((name) => name.endsWith('PG_VERSION')))
  const readable = ['', ...names].filter((name) => {
    const file = statSync(join(data, name), { throwIfNoEntry: false })
    return file !== undefined && (file.mode & 0o077) !== 0
  })
  assert.deepEqual(readable, [])
})

test('so it does on the legacy path', async () => {
  const { stdout } = await run('bash', [
    '-c',
    curl.replace('/v1/embeddings', '/v1/engines/demo-embed/embeddings'),
  ])
  assertMeaning(JSON.parse(stdout) as Answer)
})

test('the openai SDK works end to end, with its own default encoding and with plain floats', async () => {
  const client = new OpenAI({ baseURL: `${torana.url}/v1`, apiKey: key })
  const input = ['cat', 'kitten', 'car']
  const byDefault = await client.embeddings.create({ model: 'demo-embed', input })
  assertMeaning(byDefault)
  assert.ok(byDefault.usage.prompt_tokens > 0)
  const floats = await client.embeddings.create({ model: 'demo-embed', input, encoding_format: 'float' })
  assert.deepEqual(
    floats.data.map(({ embedding }) => [...Float32Array.from(embedding)]),
    byDefault.data.map(({ embedding }) => [...embedding]),
  )
  const models = await client.models.list()
  assert.deepEqual(
    models.data.map(({ id }) => id),
    ['demo-embed', 'demo-image'],
  )
  assert.equal((await client.models.retrieve('demo-image')).id, 'demo-image')
})

test('the openai SDK raises its own classes, with our code and message', async () => {
  const client = new OpenAI({ baseURL: `${torana.url}/v1`, apiKey: key, maxRetries: 0 })
  await assert.rejects(client.embeddings.create({ model: 'demo-embd', input: 'a' }), (error) => {
    assert.ok(error instanceof OpenAI.NotFoundError)
    assert.equal(error.code, 'model_not_found')
    assert.match(error.message, /Did you mean 'demo-embed'/)
    assert.match(error.requestID ?? '', /^[0-9a-f-]{36}$/)
    return true
  })
  await assert.rejects(client.embeddings.create({ model: 'demo-embed', input: '' }), OpenAI.BadRequestError)
  const stranger = new OpenAI({ baseURL: `${torana.url}/v1`, apiKey: 'sk-proj-0123456789abcdef0123456789' })
  await assert.rejects(
    stranger.embeddings.create({ model: 'demo-embed', input: 'a' }),
    OpenAI.AuthenticationError,
  )
})

test('what the node keeps is readable by its owner alone', () => {
  for (const name of ['secret', 'demo.key']) {
    assert.equal(statSync(join(folder, '.torana', name)).mode & 0o777, 0o600, name)
  }
  assert.equal(readFileSync(join(folder, '.torana/demo.key'), 'utf8').trim(), key)
})

test('SIGTERM ends it with 0, also while a client keeps its connection open after a request', async () => {
  const { port } = new URL(torana.url)
  const socket = connect(Number(port), '127.0.0.1')
  socket.write('GET /livez HTTP/1.1\r\nhost: x\r\nconnection: keep-alive\r\n\r\n')
  await once(socket, 'data')
  const closed = once(socket.resume(), 'close')
  torana.signal('SIGTERM')
  assert.equal(await torana.ended(), 0)
  // By the node: this end never said that it had enough.
  await closed
  assert.match(torana.stdout(), /"message":"stopped"/)
})

test('a second start prints the same key, and each names the command by which it was started', async () => {
  assert.ok(torana.stderr().includes('Next: `torana init > torana.yaml`'))
  const again = await startTorana({ folder, env: { ...nothing, npm_command: 'exec' } })
  assert.ok(again.stderr().includes('Next: `npx torana init > torana.yaml`'))
  assert.ok(again.stderr().includes(`Key       ${key}`))
  again.signal('SIGINT')
  assert.equal(await again.ended(), 0)
})

/** Starts that can not work. */
const taken = createServer().listen(0, '127.0.0.1')
await once(taken, 'listening')
after(() => taken.close())

/** In place of PostgreSQL. */
let databaseConnections = 0
const database = createServer((socket) => {
  databaseConnections += 1
  socket.destroy()
}).listen(0, '127.0.0.1')
await once(database, 'listening')
after(() => database.close())

for (const variable of ['PORT', 'CONTROL_PORT']) {
  test(`a taken ${variable} is reported in one line with what to do, and exit code 1, before anything is opened`, async () => {
    const port = String((taken.address() as AddressInfo).port)
    const folder = temporaryFolder()
    const env = {
      DATABASE_URL: `postgres://torana@127.0.0.1:${(database.address() as AddressInfo).port}/torana`,
      TORANA_SECRET: 'a secret that is long enough',
    }
    const torana = runTorana({ folder, env: { ...env, [variable]: port } })
    assert.equal(await torana.exit, 1)
    assert.equal(databaseConnections, 0)
    assert.deepEqual(readdirSync(folder), [], 'the data folder is not even made')
    assert.match(
      torana.stderr(),
      new RegExp(`^torana: 127\\.0\\.0\\.1:${port} is in use.*set ${variable} to another port\\.\\n$`),
    )
  })
}

test('a start that fails after its ports were bound lets go of them and ends with 1', async () => {
  const folder = temporaryFolder()
  writeFileSync(join(folder, '.torana'), 'a file where the data folder should be')
  const torana = runTorana({ folder })
  assert.equal(await torana.exit, 1)
})

test('a wrong environment or configuration is reported with its place, and exit code 1', async () => {
  const wrong = [
    [{ LOG_LEVEL: 'loud' }, /^LOG_LEVEL: expected/],
    [{ TORANA_CONFIG: 'missing.yaml' }, /missing\.yaml: this configuration file does not exist/],
    [{ TORANA_BOOTSTRAP_KEY: 'short' }, /^TORANA_BOOTSTRAP_KEY: needs 24 characters/],
  ] as const
  const endings = wrong.map(async ([env, words]) => {
    const torana = runTorana({ folder: temporaryFolder(), env })
    assert.equal(await torana.exit, 1)
    assert.match(torana.stderr(), words)
  })
  await Promise.all(endings)
})

test('an unknown command names the one that is meant, an incomplete one its missing word; help is no error', async () => {
  const unknown = runTorana({ folder: temporaryFolder(), args: ['strat'] })
  assert.equal(await unknown.exit, 2)
  assert.match(unknown.stderr(), /there is no command 'strat'\. Did you mean start\?/)
  const incomplete = runTorana({ folder: temporaryFolder(), args: ['import', 'litellm'] })
  assert.equal(await incomplete.exit, 2)
  assert.match(incomplete.stderr(), /^torana import litellm: <config\.yaml> is missing/)
  const help = runTorana({ folder: temporaryFolder(), args: ['--help'] })
  assert.equal(await help.exit, 0)
  assert.match(help.stdout(), /^ {2}check +check a torana\.yaml/m)
})

test('nothing is left in the folder by commands that only look', async () => {
  const folder = temporaryFolder()
  assert.equal(await runTorana({ folder, args: ['check'] }).exit, 0)
  assert.ok(!existsSync(join(folder, '.torana')))
})
