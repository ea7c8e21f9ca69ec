import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { setTimeout } from 'node:timers/promises'
import { after, test } from 'node:test'
import { takeProject } from './project-rules.ts'

const WAIT_MS = 1000
interface Taken {
  readonly outcome: unknown
  readonly rest: string
  readonly listeners: number
  readonly length: string | undefined
}
let taken = Promise.withResolvers<Taken>()
let most = 0

function listenersOf(request: IncomingMessage): number {
  return ['readable', 'end', 'close', 'error'].reduce((sum, event) => sum + request.listenerCount(event), 0)
}

async function take(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const before = listenersOf(request)
  const watch = setInterval(() => (most = Math.max(most, listenersOf(request) - before)), 1)
  const outcome = await takeProject(request, WAIT_MS).catch((error: unknown) => error)
  clearInterval(watch)
  const listeners = listenersOf(request) - before
  const rest = outcome instanceof Error ? '' : await text(request)
  taken.resolve({ outcome, rest, listeners, length: request.headers['content-length'] })
  response.end()
}

const server = createServer((request, response) => void take(request, response))
server.listen(0, '127.0.0.1')
await once(server, 'listening')
after(() => server.close())

/** Sends a body at once, or byte by byte. */
async function sent(body: string, pauseMs?: number, type = 'application/json'): Promise<Taken> {
  taken = Promise.withResolvers()
  most = 0
  const { port } = server.address() as AddressInfo
  const client = httpRequest({ port, method: 'POST', headers: { 'content-type': type } })
  client.on('error', () => {})
  client.setNoDelay(true)
  if (pauseMs === undefined) client.end(body)
  else {
    for (const byte of body) {
      client.write(byte)
      await setTimeout(pauseMs)
    }
    client.end()
  }
  try {
    return await taken.promise
  } finally {
    client.destroy()
  }
}

test('a body that arrives byte by byte is read with a few listeners, and none is left', async () => {
  const { outcome, rest, listeners } = await sent('{"project":"search","input":"a text"}', 2)
  assert.deepEqual([outcome, rest, listeners], ['search', '{"input":"a text"}', 0])
  assert.ok(most <= 3, `${most} listeners at once`)
})

test('a project that does not arrive in time is a time-out of the request', async () => {
  const { outcome, listeners } = await sent(`{${' '.repeat(150)}"project":"search"}`, 10)
  assert.deepEqual([(outcome as { code: string }).code, listeners], ['request_timeout', 0])
})

const FORM = 'multipart/form-data; boundary=b1'
const part = (name: string, value: string, boundary = 'b1'): string =>
  `--${boundary}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`
const PROMPT = `${part('prompt', 'a cät')}--b1--\r\n`

/** What the gateway's handler gets is what any caller would have sent, and as long as its header says. */
const BODIES: readonly (readonly [body: string, type: string, project: string, rest: string])[] = [
  ['{"project":"ads","input":"ä"}', 'application/json', 'ads', '{"input":"ä"}'],
  [' { "project" : "ads" , "input":1}', 'application/json', 'ads', ' { "input":1}'],
  ['{"project":"ads"}', 'application/json', 'ads', '{}'],
  ['{"project":"ads"}', '', 'ads', '{}'],
  [part('project', 'ads') + PROMPT, FORM, 'ads', PROMPT],
  [part('project', ' ads ') + PROMPT, FORM, 'ads', PROMPT],
  [
    part('project', 'ads', 'b 2') + part('prompt', 'x', 'b 2'),
    'multipart/form-data; boundary="b 2"',
    'ads',
    part('prompt', 'x', 'b 2'),
  ],
  [
    '--b1\r\ncontent-disposition: form-data; name=project\r\n\r\nads\r\n--b1--',
    `Multipart/Form-Data; charset=x; boundary=b1`,
    'ads',
    '--b1--',
  ],
]

test('the project leaves the body, and the rest is as long as its header says', async () => {
  for (const [body, type, project, rest] of BODIES) {
    const got = await sent(body, undefined, type)
    assert.deepEqual([got.outcome, got.rest, got.length], [project, rest, String(Buffer.byteLength(rest))])
  }
  const chunked = await sent('{"project":"ads","n":1}', 0)
  assert.deepEqual([chunked.outcome, chunked.rest, chunked.length], ['ads', '{"n":1}', undefined])
})

test('a body that does not begin with the project is refused, however long it is', async () => {
  const far = (bytes: number): string => `{${' '.repeat(bytes)}"project":"ads"}`
  for (const [body, type] of [
    ['', 'application/json'],
    ['{}', 'application/json'],
    ['{"input":"x","project":"ads"}', 'application/json'],
    ['{"project":""}', 'application/json'],
    [`{"project":"${'p'.repeat(101)}"}`, 'application/json'],
    [far(8192 - 16), 'application/json'],
    [far(100_000), 'application/json'],
    [PROMPT, FORM],
    [part('prompt', 'x') + part('project', 'ads') + PROMPT, FORM],
    [part('project', 'p'.repeat(8192)) + PROMPT, FORM],
    ['--b1\r\nno end of the head; name=project', FORM],
    [part('project', 'ads').trimEnd(), FORM],
    [part('project', 'ads', 'other') + PROMPT, FORM],
  ] as const) {
    const { outcome } = await sent(body, undefined, type)
    const { code, param } = outcome as { code: string; param: string }
    assert.deepEqual([code, param], ['missing_parameter', 'project'], body.slice(0, 80))
  }
  assert.equal((await sent(far(8192 - 17))).outcome, 'ads')
})

test('a caller who leaves is not waited for, and one who stops sending is a timeout', async () => {
  for (const [isGone, code] of [
    [true, 'missing_parameter'],
    [false, 'request_timeout'],
  ] as const) {
    taken = Promise.withResolvers()
    const { port } = server.address() as AddressInfo
    const client = httpRequest({ port, method: 'POST' })
    client.on('error', () => {})
    const arrived = once(server, 'request')
    client.write('{')
    await arrived
    if (isGone) client.destroy()
    const { outcome, listeners } = await taken.promise
    client.destroy()
    assert.deepEqual([(outcome as { code: string }).code, listeners], [code, 0])
  }
})
