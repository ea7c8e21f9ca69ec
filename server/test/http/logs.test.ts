import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import {
  configText,
  GATEWAY_KEY,
  gatewayEnvironment,
  UPSTREAM_KEY,
  type ModelSpec,
} from '#test/support/gateway.ts'
import { startTorana, temporaryFolder } from '#test/support/process.ts'
import { startFakeProvider } from '../../../lab/fake-provider/server.ts'
import { base64Of, vectorOf } from '../../../lab/fake-provider/vectors.ts'

const TEXT = 'canary text that is nobody’s business'
const WRONG_KEY = 'a-wrong-key-canary-0123456789'
const provider = await startFakeProvider()
after(() => provider.close())

const models: Record<string, ModelSpec> = {
  'plain-w16': { on: 'plain', capabilities: { encodings: ['float', 'base64'] } },
  'leaks-w16': { on: ['leaks-key', 'plain'] },
  'content-w16': { on: 'content-refused' },
  'strict-w16': { on: 'strict-fields' },
  'short-w16': { on: 'plain+key-short', embedding: { maxInputTokens: 2, tokenCounts: 'exact' } },
}
for (const scenario of [
  'status-400',
  'status-401',
  'status-404',
  'status-429',
  'status-500',
  'reset',
  'half-body',
  'garbage',
  'nan',
  'wrong-width',
  'empty-data',
  'html-200',
  'bad-base64',
]) {
  models[`${scenario}-w16`] = { on: [scenario, 'plain'], capabilities: { encodings: ['float', 'base64'] } }
}

/** Every level, since a debug log is a log too. */
const folder = temporaryFolder()
writeFileSync(join(folder, 'torana.yaml'), configText({ models }, provider.url))
const torana = await startTorana({
  folder,
  env: gatewayEnvironment(folder, { LOG_LEVEL: 'trace', CONTROL_HOST: '0.0.0.0', HOST: '0.0.0.0' }),
})

async function ask(
  body: unknown,
  key = GATEWAY_KEY,
  headers: Record<string, string> = {},
): Promise<Response> {
  const answer = await fetch(`${torana.url}/v1/embeddings`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })
  await answer.arrayBuffer()
  return answer
}

const requestIds: string[] = []
for (const model of Object.keys(models)) {
  for (const encoding_format of ['float', 'base64']) {
    const answer = await ask({
      model,
      input: [TEXT, `${TEXT} 2`],
      encoding_format,
      user: 'user-of-the-application',
    })
    requestIds.push(answer.headers.get('x-request-id') ?? '')
  }
}
await ask({ model: 'strict-w16', input: TEXT, canaryfield: TEXT })
await ask({ model: TEXT, input: TEXT })
await ask({ model: 'plain-w16', input: [TEXT, 5] })
await ask({ model: 'plain-w16', input: TEXT, dimensions: TEXT })
await ask(`{"input": "${TEXT}", oops`)
await ask({ model: 'plain-w16', input: TEXT }, WRONG_KEY)
await ask({ model: 'plain-w16', input: TEXT }, GATEWAY_KEY, { 'x-client-request-id': 'the-callers-own-id' })
await fetch(`${torana.url}/v1/engines/${encodeURIComponent(TEXT)}/embeddings`, { method: 'POST' })
await fetch(`${torana.url}/v1/nowhere?key=${WRONG_KEY}`)
const metrics = await (await fetch(`${torana.controlUrl}/metrics`)).text()
torana.signal('SIGTERM')
await torana.ended()
const log = torana.stdout()
const lines = log.trimEnd().split('\n')

interface Line {
  readonly level: string
  readonly time: string
  readonly message: string
  readonly [field: string]: unknown
}
const parsed = lines.map((line) => JSON.parse(line) as Line)

test('every line is JSON with a level, a time and a message', () => {
  assert.ok(lines.length > Object.keys(models).length * 2)
  for (const line of parsed) {
    assert.match(line.level, /^(debug|info|warn|error)$/)
    assert.ok(Math.abs(Date.parse(line.time) - Date.now()) < 120_000)
    assert.ok(line.message.length > 0)
  }
})

test('a control API that others can reach is warned of', () => {
  const warnings = parsed.filter(({ message }) => message.startsWith('the control API listens beyond'))
  assert.deepEqual(
    warnings.map(({ level, host }) => [level, host]),
    [['warn', '0.0.0.0']],
  )
})

test('links that other machines cannot open are warned of', () => {
  const warnings = parsed.filter(({ message }) => message.startsWith('PUBLIC_URL is not set'))
  assert.deepEqual(
    warnings.map(({ level }) => level),
    ['warn'],
  )
})

test('every request has a line under the id that the caller got, with who asked for what', () => {
  const requests = parsed.filter(({ message }) => message.startsWith('request'))
  for (const id of requestIds) {
    const [line, ...others] = requests.filter(({ requestId }) => requestId === id)
    assert.equal(others.length, 0)
    assert.ok(line, id)
    assert.equal(line['project'], 'default')
    assert.equal(line['user'], 'user-of-the-application')
    assert.equal(line['inputs'], 2)
    assert.equal(typeof line['durationMs'], 'number')
  }
  assert.ok(requests.some((line) => line['clientRequestId'] === 'the-callers-own-id'))
})

test('every failed call has a line with its deployment and how it ended', () => {
  const failed = parsed.filter(({ message }) => message.startsWith('upstream call failed'))
  const outcomes = new Set(failed.map((line) => line['outcome']))
  for (const outcome of [
    'refused',
    'rejectedUs',
    'missing',
    'rateLimited',
    'failed',
    'unreachable',
    'broken',
    'contentRefused',
  ]) {
    assert.ok(outcomes.has(outcome), outcome)
  }
  const alarm = failed.find((line) => line['outcome'] === 'rejectedUs')
  assert.equal(alarm?.level, 'error')
})

/** Parts of what must never be seen, in every form it could take. */
const vector = vectorOf(TEXT, 16)
const canaries: Record<string, readonly string[]> = {
  'a text': ['canary text', 'business', Buffer.from(TEXT).toString('base64').slice(4, 40)],
  'a vector': [
    base64Of(vector).slice(0, 20),
    ...[...vector].map((value) => String(Math.fround(value)).slice(0, 9)),
  ],
  'a key': [GATEWAY_KEY, WRONG_KEY],
  'an upstream’s credential': [UPSTREAM_KEY, 'upstreamcanary'],
}
for (const [what, forms] of Object.entries(canaries)) {
  test(`${what} is in no log line and no metric`, () => {
    for (const form of forms) {
      const line = lines.find((candidate) => candidate.includes(form))
      assert.equal(line, undefined, form)
      assert.ok(!metrics.includes(form), form)
      assert.ok(!torana.stderr().includes(form), form)
    }
  })
}
