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
  taken.resolve({ outcome, rest, listeners })
  response.end()
}

const server = createServer((request, response) => void take(request, response))
server.listen(0, '127.0.0.1')
await once(server, 'listening')
after(() => server.close())

/** A body that arrives byte by byte. */
async function sent(body: string, pauseMs: number): Promise<Taken> {
  taken = Promise.withResolvers()
  most = 0
  const { port } = server.address() as AddressInfo
  const client = httpRequest({ port, method: 'POST', headers: { 'content-type': 'application/json' } })
  client.on('error', () => {})
  client.setNoDelay(true)
  for (const byte of body) {
    client.write(byte)
    await setTimeout(pauseMs)
  }
  client.end()
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
