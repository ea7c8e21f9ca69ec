/**
 * After real traffic every GET route of the contract is called with all known names, and nothing secret is in its answer: no secret
 * of a key, token, upstream, webhook or sign-on, no password, hash or cookie, no text, prompt, vector or image. A route that is added
 * later is tested automatically, and has to answer.
 */
import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { Client } from 'pg'
import { NODE_TOKEN, startConsoleNode } from '#test/support/console-node.ts'
import { operationsOf } from '#test/support/contract.ts'
import { UPSTREAM_KEY } from '#test/support/gateway.ts'
import { askImages } from '#test/support/image-answers.ts'
import { BatchCaller, embeddingLines } from '#test/support/batches.ts'
import { eventually } from '#test/support/process.ts'
import { testPostgres } from '#test/support/servers.ts'

const PASSWORD = 'canary password of an admin'
const TEXT = 'canary text about a merger that nobody knows of'
const BATCH_TEXT = 'canary text of a batch that runs at night'
const PROMPT = 'canary prompt of a gate in the mist'
const STORED_SECRET = 'sk-storedcanary9876543210abcdef'
const WEBHOOK_SECRET = `whsec_${Buffer.from('canary of the webhooks, 32 bytes').toString('base64')}`
const WEBHOOK_PATH = 'canary-path-of-a-receiver'
const CLIENT_SECRET = 'canary-secret-of-the-sign-on'
const FILE_KEY = 'canary-key-of-the-file-00001'

/** Redirects to an identity provider, and has nothing to answer without one. */
const ELSEWHERE = new Set(['/session/oidc', '/session/oidc/callback'])
/** The route that answers with the bytes of images; it is called too, and its bytes are ignored. */
const PICTURE = '/assets/{id}/content'
/** The route that answers with vectors, for the download of a batch's output. They contain no text. */
const OUTPUTS = new Set(['/batches/{id}/output'])

const { url: database } = await testPostgres()
const node = await startConsoleNode({
  models: { 'plain-w16': { on: 'plain', price: { usdPerMillionTokens: 1000 }, spaceGuard: true } },
  images: {
    'plain-image': {
      on: 'plain',
      capabilities: { edits: { maxInputs: 2, mask: 'alpha' } },
      price: { usdPerImage: 0.01 },
    },
    'refused-image': { on: 'moderation', price: { usdPerImage: 0.01 } },
  },
  projects: {
    filed: {
      keys: [{ name: 'ci', secret: FILE_KEY }],
      webhooks: [{ url: `http://127.0.0.1:9/${WEBHOOK_PATH}`, secret: WEBHOOK_SECRET, private: true }],
    },
  },
  env: { DATABASE_URL: database },
})

interface Route {
  readonly path: string
  readonly needed: readonly string[]
}

const routes: readonly Route[] = operationsOf('control')
  .filter(({ method }) => method === 'GET')
  .map(({ path, parameters }) => ({
    path: path.replace('/api/v1', ''),
    needed: parameters.filter((one) => one.in === 'query' && one.required === true).map(({ name }) => name),
  }))

/** What must not appear anywhere, by its name. */
const secrets = new Map<string, string>()
/** Names that an answer may be about: each is tried wherever a route takes a name. */
const named = new Set<string>(['plain-w16', 'plain-image', 'app', 'project:app', 'key:app/canary'])
let cookie = ''
let topics = ''

async function made(path: string, body: unknown, method = 'POST') {
  const answer = await node.control(method, path, { token: NODE_TOKEN, body })
  assert.ok(answer.status < 300, `${path}: ${answer.status} ${answer.text}`)
  return answer.body
}

async function becomeAdmin(): Promise<void> {
  const link = String(node.welcomeUrl)
  const { search, hash } = new URL(link)
  assert.equal(search, '', 'what is in the query lands in logs of proxies')
  const token = new URLSearchParams(hash.slice(1)).get('token') ?? ''
  const signedIn = await node.control('POST', '/session/first-run', {
    origin: node.controlUrl,
    body: { token, name: 'Ada', email: 'ada@example.com', password: PASSWORD },
  })
  assert.ok(signedIn.status < 300, signedIn.text)
  cookie = signedIn.headers.getSetCookie()[0]?.split(';', 1)[0] ?? ''
  secrets.set('the token of the first run', token)
  secrets.set('a password', PASSWORD)
  secrets.set('a cookie', cookie.slice(cookie.indexOf('=') + 1))
}

async function setUp(): Promise<string> {
  await becomeAdmin()
  secrets.set('the secret of a key in the file', FILE_KEY)
  secrets.set('the secret of an upstream in the file', UPSTREAM_KEY)
  secrets.set('the secret of a webhook', WEBHOOK_SECRET)
  secrets.set('the path of a webhook', WEBHOOK_PATH)
  secrets.set('the token of the node', NODE_TOKEN)
  await made('/projects', { name: 'app', budget: { usd: '5', per: 'month', hard: true } })
  const budget = { usd: '2', per: 'month', hard: true }
  const key = String((await made('/keys', { project: 'app', name: 'canary', budget }))['secret'])
  secrets.set('the secret of a key', key)
  const rotated = await made('/keys/app/canary/rotate', { overlap_seconds: 3600 })
  secrets.set('the new secret of a key', String(rotated['secret']))
  const token = await made('/tokens', { name: 'canary', role: 'operator', expires_in_days: 1 })
  secrets.set('the secret of a token', String(token['secret']))
  const { link } = await made('/invitations', { email: 'bo@example.com', role: 'operator' })
  secrets.set('the link of an invitation', String(link).split('/').at(-1) ?? '')
  await made('/upstreams', {
    base_url: `${node.provider.url}/plain/v1`,
    name: 'stored',
    secret: STORED_SECRET,
  })
  secrets.set('the secret of a stored upstream', STORED_SECRET)
  await made(
    '/sign-on',
    {
      issuer: 'https://id.example.com',
      client_id: 'torana',
      client_secret: CLIENT_SECRET,
      rules: [{ claim: 'groups', value: 'ops', role: 'operator' }],
    },
    'PUT',
  )
  secrets.set('the secret of the sign-on', CLIENT_SECRET)
  const hook = { url: `http://127.0.0.1:9/${WEBHOOK_PATH}`, secret: WEBHOOK_SECRET, private: true }
  const channel = await made('/alerts/channels', { kind: 'webhook', name: 'canary', ...hook })
  await made(`/alerts/channels/${String(channel['id'])}/test`, undefined)
  await made('/alerts/rules', { kind: 'node_down', channels: [channel['id']] })
  return key
}

/** Texts and images, answered and refused. */
async function traffic(key: string): Promise<void> {
  const embedded = await eventually(async () => {
    const answer = await node.ask({ model: 'plain-w16', input: TEXT }, { key })
    assert.equal(answer.status, 200, answer.text)
    return answer
  })
  const vector = embedded.body.data[0]?.embedding as number[]
  for (const [index, number] of vector.entries())
    if (String(number).length >= 8) secrets.set(`number ${index} of a vector`, String(number).slice(0, 10))
  const packed = await node.ask({ model: 'plain-w16', input: TEXT, encoding_format: 'base64' }, { key })
  secrets.set('a vector in base64', String(packed.body.data[0]?.embedding).slice(0, 40))
  const request = { model: 'plain-image', prompt: PROMPT }
  const pictures = await askImages(node, request, { key })
  const picture = pictures.body.data[0]?.b64_json ?? ''
  assert.ok(picture.length > 200, pictures.text.slice(0, 300))
  secrets.set('a picture', picture.slice(0, 60))
  secrets.set('the end of a picture', picture.slice(-60))
  const form = new FormData()
  form.set('model', 'plain-image')
  form.set('prompt', PROMPT)
  form.set('image', new Blob([Buffer.from(picture, 'base64')], { type: 'image/png' }), 'canary-file-name.png')
  const edited = await fetch(`${node.url}/v1/images/edits`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}` },
    body: form,
  })
  assert.equal(edited.status, 200, await edited.text())
  secrets.set('the name of a file', 'canary-file-name')
  await askImages(node, { ...request, model: 'refused-image' }, { key })
  await node.ask({ model: 'plain-w16', input: TEXT, dimensions: TEXT }, { key })
  await node.ask({ model: 'plain-w16', input: TEXT }, { key: FILE_KEY })
  await askImages(node, request, { key: FILE_KEY, headers: { prefer: 'respond-async' } })
  const batches = new BatchCaller(node.url, key)
  const lines = embeddingLines('plain-w16', [BATCH_TEXT, ''])
  const batch = await batches.ended((await batches.create(await batches.upload(lines))).id)
  assert.deepEqual(batch.request_counts, { total: 2, completed: 1, failed: 1 })
  named.add(batch.id)
  secrets.set('a text of a batch', BATCH_TEXT)
  const play = { project: 'app', model: 'plain-w16', input: TEXT }
  await made('/playground/embeddings', play)
  secrets.set('a text', TEXT)
  secrets.set('a prompt', PROMPT)
  for (const { headers } of [embedded, pictures]) named.add(headers.get('x-request-id') ?? '')
}

/** The traffic becomes suspect. Also what only the database has: digests and hashes, in every encoding of bytes. */
async function readDatabase(): Promise<void> {
  const client = new Client(database)
  await client.connect()
  try {
    await client.query(`
      INSERT INTO nodes (node_id, host, version, seen_at) VALUES (gen_random_uuid(), 'lost', '1', now() - interval '5 min');
      INSERT INTO suspect_windows (window_id, model, deployment, target, space, from_at)
      VALUES ('sus_1', 'plain-w16', 'plain-w16/plain', '', '', now());
      INSERT INTO suspect_vectors (window_id, request_id, project, key_id, inputs, batch_id)
      SELECT DISTINCT 'sus_1', request_id, project, key_id, 1, batch_id FROM usage_events WHERE model = 'plain-w16'`)
    const { rows } = await client.query<{ what: string; bytes: Buffer }>(`
      SELECT 'hash of a password' AS what, convert_to(password_hash, 'UTF8') AS bytes FROM members
      UNION ALL SELECT 'digest of a session', digest FROM sessions
      UNION ALL SELECT 'digest of a key', digest FROM key_secrets
      UNION ALL SELECT 'digest of a token', digest FROM admin_tokens
      UNION ALL SELECT 'digest of an invitation', digest FROM invitations`)
    assert.equal(new Set(rows.map(({ what }) => what)).size, 5)
    for (const [index, { what, bytes }] of rows.entries()) {
      if (what === 'hash of a password') secrets.set(what, bytes.toString('utf8'))
      for (const encoding of ['hex', 'base64', 'base64url'] as const)
        secrets.set(`${what} ${index} (${encoding})`, bytes.toString(encoding).replace(/=+$/, ''))
    }
  } finally {
    await client.end()
  }
}

/** Every short text of an answer that may be the name of something. */
function collect(value: unknown, field = ''): void {
  if (Array.isArray(value)) for (const one of value) collect(one, field)
  else if (value !== null && typeof value === 'object')
    for (const [name, one] of Object.entries(value)) collect(one, name)
  else if (typeof value === 'string' && /^(id|.*_id|model|deployment|asset.*|images?)$/.test(field))
    if (value !== '' && value.length <= 80) named.add(value)
}

/** The route with every known name in it; a project and the name of its key belong together. */
function questionsOf({ path, needed }: Route): string[] {
  // One of the topics is about keys that are named.
  const queries: Record<string, string> = {
    topics: `${topics}&key=filed/ci`,
    q: 'canary',
    format: 'npy',
  }
  const search = needed.map((name) => {
    assert.ok(queries[name] !== undefined, `${path} wants ${name}: say here what to ask it for`)
    return `${name}=${queries[name]}`
  })
  const whole = path.replace('{project}', 'app').replace('{name}', 'canary')
  const names = whole.includes('{') ? [...named] : ['']
  return names.map((name) =>
    [whole.replaceAll(/\{[^}]+\}/g, () => encodeURIComponent(name)), ...search].join('?'),
  )
}

interface Walked {
  readonly status: number
  readonly text: string
}

/** A stream is read until its first event, while another client asks for vectors. */
async function ask(path: string): Promise<Walked> {
  const leave = new AbortController()
  const answer = await fetch(`${node.controlUrl}/api/v1${path}`, {
    redirect: 'manual',
    headers: { cookie },
    signal: leave.signal,
  })
  if (answer.headers.get('content-type')?.includes('event-stream') !== true)
    return { status: answer.status, text: Buffer.from(await answer.arrayBuffer()).toString('latin1') }
  let text = ''
  const timer = setTimeout(() => leave.abort(), 3000)
  try {
    await node.ask({ model: 'plain-w16', input: TEXT }, { key: FILE_KEY })
    for await (const chunk of answer.body ?? []) text += Buffer.from(chunk as Uint8Array).toString('latin1')
  } catch (error) {
    assert.equal((error as Error).name, 'AbortError')
  } finally {
    clearTimeout(timer)
  }
  return { status: answer.status, text }
}

/** Shapes of secrets, whatever their source. */
const SHAPES: readonly (readonly [what: string, shape: RegExp])[] = [
  ['a secret of a key', /\btr_[\w-]{20,}/],
  ['a secret of a token', /\btra_[\w-]{20,}/],
  ['a hash of a password', /\$(argon2|scrypt|2[aby]\$)/],
  ['a picture or vector in base64', /[A-Za-z0-9+/]{300,}/],
  ['a data URL', /data:image\//],
  ['numbers like a vector', /\[(-?0\.\d{5,}(e-\d+)?,\s*){7,}/],
]

function assertNothingSecret(text: string, where: string, mayHaveVectors = false): void {
  for (const [what, secret] of secrets) assert.ok(!text.includes(secret), `${where}: ${what}`)
  for (const [what, shape] of SHAPES)
    if (!mayHaveVectors || !what.includes('vector')) assert.doesNotMatch(text, shape, `${where}: ${what}`)
}

before(async () => {
  await traffic(await setUp())
  await readDatabase()
  const { text } = await ask('/events?topics=nothing')
  topics = /There are ([\w, ]+)\./.exec(text)?.[1]?.replaceAll(' ', '') ?? ''
  await eventually(async () => {
    const { text: jobs } = await ask('/image-jobs')
    assert.match(jobs, /"status":"succeeded"/)
  })
  await eventually(async () => {
    const { text: incidents } = await ask('/alerts/incidents')
    assert.match(incidents, /"title":"lost is down"/)
  })
  for (const { path } of routes.filter((one) => !one.path.includes('{') && one.needed.length === 0))
    collect((await node.control('GET', path, { cookie })).body)
})

test('there is much to find, and many places to look at', () => {
  assert.ok(routes.length > 35)
  assert.ok(secrets.size > 30)
  assert.ok(named.size > 10)
  assert.ok(topics.split(',').length > 2, topics)
  for (const [what, secret] of secrets) assert.ok(secret.length >= 8, what)
})

test('a secret would be found', () => {
  for (const secret of secrets.values())
    assert.throws(() => assertNothingSecret(`{"a":"${secret}"}`, 'this test'))
  const shapes = [`tr_${'a'.repeat(30)}`, 'A'.repeat(400), JSON.stringify(Array(16).fill(0.123456))]
  for (const shape of shapes) assert.throws(() => assertNothingSecret(shape, 'this test'))
})

for (const route of routes)
  test(`GET ${route.path} tells nothing secret`, async () => {
    const statuses = new Set<number>()
    for (const question of questionsOf(route)) {
      const { status, text } = await ask(question)
      statuses.add(status)
      assert.ok(status < 500, `${question}: ${status} ${text.slice(0, 300)}`)
      assertNothingSecret(text, question, OUTPUTS.has(route.path))
      if (route.needed.includes('topics')) assert.match(text, /"rows":\[.*"first_request"/s)
      if (route.path === PICTURE && status === 200) assert.match(text.slice(0, 4), /PNG|ÿØ|RIFF/)
    }
    if (!ELSEWHERE.has(route.path)) assert.ok(statuses.has(200), [...statuses].join())
  })
