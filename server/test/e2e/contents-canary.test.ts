/** Images and texts that would be recognised anywhere, served and refused in every way. Afterwards nothing of them is left. */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { openPostgres } from '#stores/postgres/database.ts'
import { startNodeProcess } from '#test/support/cluster.ts'
import { GATEWAY_KEY, send, type GatewayOptions, type ModelSpec } from '#test/support/gateway.ts'
import { pngOf } from '#test/support/media.ts'
import { eventually } from '#test/support/process.ts'
import { around, formsOf, tablesOf, textsIn } from '#test/support/search.ts'
import { testPostgres } from '#test/support/servers.ts'
import { startFakeProvider } from '../../../lab/fake-provider/server.ts'

const cores = {
  'the text of a content': randomBytes(12).toString('hex'),
  'a small image': randomBytes(12).toString('hex'),
  'a large image': randomBytes(12).toString('hex'),
}
/** Not secret, and to be found wherever contents are searched for. */
const USER = `user-${randomBytes(6).toString('hex')}`

/** Repeats in its errors all that it was sent, as some upstreams do. */
const echo = createServer((request, response) => {
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.once('end', () => {
    response.writeHead(Number(/\d{3}/.exec(request.url ?? '')?.[0]), { 'content-type': 'application/json' })
    const message = `no: ${Buffer.concat(chunks).toString()}`
    response.end(JSON.stringify({ error: { message, code: message, type: 'echo', param: message } }))
  })
}).listen(0, '127.0.0.1')
await once(echo, 'listening')
after(() => echo.close())
const echoUrl = `http://127.0.0.1:${(echo.address() as AddressInfo).port}`

const contents = { wire: 'openrouter', inputs: ['text', 'image'], fuses: true }
const taking = (on: string, upstream: object = {}): ModelSpec => ({
  on,
  upstream: { base: 'openrouter/api/v1', ...upstream },
  capabilities: { contents },
  cache: { ttl: '1d' },
  price: { usdPerInput: { millionTextTokens: 1, image: 0.001 } },
})
const SCENARIOS = ['plain', 'status-500', 'serves-then-resets', 'reset', 'garbage', 'no-usage']
const ECHOES = [400, 413, 429, 500]
const options: GatewayOptions = {
  models: {
    ...Object.fromEntries(SCENARIOS.map((on) => [`${on}-w16`, taking(on)])),
    ...Object.fromEntries(
      ECHOES.map((status) => [
        `echo-${status}-w16`,
        taking(`echo-${status}`, { baseUrl: `${echoUrl}/${status}/v1` }),
      ]),
    ),
    'texts-w16': { on: 'plain' },
  },
  // A large one goes to the disk.
  limits: { contentPartBytes: 2 * 1024 * 1024 },
}

const png = await pngOf(20, 10)
const small = Buffer.concat([png, Buffer.from(cores['a small image'])])
const large = Buffer.concat([png, Buffer.alloc(600_000, 3), Buffer.from(cores['a large image'])])
const url = (bytes: Buffer): string => `data:image/png;base64,${bytes.toString('base64')}`
const imagePart = (address: string) => ({ type: 'image_url', image_url: { url: address } })
const content = (...parts: readonly object[]) => ({
  content: [{ type: 'text', text: `a text with ${cores['the text of a content']} in it` }, ...parts],
})

/** Everything that is kept, by place. */
const seen = new Map<string, string>()
const statuses = new Map<string, number>()

before(async () => {
  const [provider, postgres] = await Promise.all([startFakeProvider(), testPostgres()])
  after(() => provider.close())
  const database = openPostgres(postgres.url, { poolSize: 2 })
  after(() => database.close())
  const node = await startNodeProcess(options, provider.url, {
    env: { DATABASE_URL: postgres.url, LOG_LEVEL: 'trace' },
  })
  const ask = async (what: string, model: string, input: readonly unknown[]): Promise<void> => {
    const { status } = await send(`${node.url}/v1/embeddings`, {
      method: 'POST',
      headers: { authorization: `Bearer ${GATEWAY_KEY}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model, input, user: USER }),
    })
    statuses.set(what, status)
  }
  for (const bytes of [small, large]) {
    for (const model of Object.keys(options.models ?? {}))
      await ask(`${model}, ${bytes.length} bytes`, model, [content(imagePart(url(bytes)))])
    const data = url(bytes)
    for (const [what, input] of [
      ['cached', content(imagePart(data))],
      ['a data URL as a text', data],
      ['broken base64', content(imagePart(data.replace('base64,', 'base64,!!')))],
      ['half an image', content(imagePart(url(Buffer.concat([png.subarray(0, 20), bytes]))))],
      ['no image', content(imagePart(url(bytes.subarray(png.length))))],
      ['a wrong place', { ...content(), image: data }],
      ['an unknown part', content({ type: data, [data]: data })],
      ['no address', content(imagePart(bytes.toString('base64')))],
      ['too large', content(imagePart(url(Buffer.concat([bytes, Buffer.alloc(2 * 1024 * 1024)]))))],
    ] as const)
      await ask(`${what}, ${bytes.length} bytes`, 'plain-w16', [input])
  }
  await eventually(async () => {
    const rows = await textsIn(database, 'public.requests')
    assert.equal(rows.filter((row) => row.includes(USER)).length > 0, true)
  })
  seen.set('metrics', await (await fetch(`${node.controlUrl}/metrics`)).text())
  node.child.kill('SIGTERM')
  assert.equal(await node.exit, 0)
  seen.set('output', node.stdout() + node.stderr())
  for (const table of await tablesOf(database))
    seen.set(`table ${table}`, (await textsIn(database, table)).join('\n'))
  const folder = join(node.folder, 'data')
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name)
    if (entry.isFile()) seen.set(`file ${path}`, readFileSync(path, 'latin1'))
  }
})

test('contents were served and refused in every way', () => {
  for (const bytes of [small, large]) {
    const statusOf = (what: string) => statuses.get(`${what}, ${bytes.length} bytes`)
    assert.deepEqual([statusOf('plain-w16'), statusOf('cached'), statusOf('no-usage-w16')], [200, 200, 200])
    for (const what of ['a data URL as a text', 'broken base64', 'no image', 'a wrong place', 'no address'])
      assert.equal(statusOf(what), 400, what)
    for (const what of ['status-500-w16', 'garbage-w16', 'echo-500-w16'])
      assert.ok((statusOf(what) ?? 0) >= 400, what)
  }
})

test('the places that are searched are those where something is kept', () => {
  for (const place of ['output', 'table public.requests', 'table public.usage_events'])
    assert.ok(seen.get(place)?.includes('plain-w16'), place)
  assert.ok(seen.get('table public.requests')?.includes(USER))
})

for (const [what, core] of Object.entries(cores))
  test(`${what} is in no log, no table, no metric and no file`, () => {
    for (const form of formsOf(core))
      for (const [place, text] of seen)
        assert.ok(!text.includes(form), `${place} holds ${what}: ${around(text, form)}`)
  })
