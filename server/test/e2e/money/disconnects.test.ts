/** Clients that leave, upstreams that fail, requests that end halfway: every paid call is in the ledger, nothing stays reserved. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { startGatewayOnPostgres } from './gateway-on-postgres.ts'
import { assertAtRest, assertLedgerMatches, PRICE, tokens } from './ledger-rows.ts'

const KEY = 'key-of-the-project-whose-clients-leave'
/** Every way in which a call can fail, and some in which it succeeds. */
const SCENARIOS = [
  'plain',
  'slow-40',
  'chunked-64',
  'no-usage',
  'status-400',
  'status-401',
  'status-404',
  'status-429',
  'status-500',
  'quota',
  'content-refused',
  'reset',
  'serves-then-resets',
  'half-body',
  'half-body-chunked',
  'garbage',
  'html-200',
  'empty-data',
  'wrong-count',
  'wrong-width',
  'never',
]
const CLIENTS = 160

const { gateway, database, quiet } = await startGatewayOnPostgres({
  models: Object.fromEntries(
    SCENARIOS.map((scenario) => [
      `${scenario}-w16`,
      { on: [scenario, 'slow-10'], price: PRICE, capabilities: { tokenArrays: true, maxInputs: 2 } },
    ]),
  ),
  projects: {
    leaving: {
      keys: [{ name: 'k', secret: KEY, limits: { tokensPerMinute: 1_000_000 } }],
      budget: { usd: 1, per: 'total', hard: true },
    },
  },
  limits: { attemptTimeoutMs: 2000, requestTimeoutMs: 4000 },
})
const { provider } = gateway

function requestOf(index: number): Buffer {
  const scenario = SCENARIOS[index % SCENARIOS.length] as string
  // More inputs than one call takes, so that a request may fail in one part and go on in another.
  const input = Array.from({ length: 1 + (index % 5) }, (_, part) => tokens(3 + part))
  const body = JSON.stringify({ model: `${scenario}-w16`, input })
  const head = [
    'POST /v1/embeddings HTTP/1.1',
    'host: gateway',
    `authorization: Bearer ${KEY}`,
    'content-type: application/json',
    `content-length: ${body.length}`,
  ]
  return Buffer.from(`${head.join('\r\n')}\r\n\r\n${body}`)
}

/** Sends some bytes of its request, reads some of the answer, and leaves. */
async function leave(
  request: Buffer,
  sentBytes: number,
  readBytes: number,
  patienceMs: number,
): Promise<void> {
  const { hostname, port } = new URL(gateway.url)
  const socket = connect(Number(port), hostname)
  // A reset is one of the ways in which a connection may end.
  socket.on('error', () => {})
  await once(socket, 'connect')
  socket.write(request.subarray(0, sentBytes))
  let read = 0
  socket.on('data', ({ length }: Buffer) => {
    read += length
    if (read >= readBytes) socket.destroy()
  })
  await Promise.race([once(socket, 'close'), delay(patienceMs)])
  socket.destroy()
}

test('clients that leave at any byte of their request or their answer: the ledger is what the upstream counted', async () => {
  // The provider reads its table of tokens with the first of them, which takes longer than a call may.
  const body = JSON.stringify({ model: 'any-w16', input: tokens(3) })
  await fetch(`${provider.url}/status-500/v1/embeddings`, { method: 'POST', body })
  let next = 0
  const oneAfterAnother = async (): Promise<void> => {
    while (next < CLIENTS) {
      const index = next++
      const request = requestOf(index)
      const sentBytes = index % 4 === 0 ? Math.floor(Math.random() * request.length) : request.length
      await leave(request, sentBytes, 1 + Math.floor(Math.random() * 3000), Math.random() * 200)
    }
  }
  const leaveAll = async () => {
    next = 0
    await Promise.all(Array.from({ length: 12 }, oneAfterAnother))
    await quiet()
    return assertLedgerMatches(database, provider)
  }
  // On a busy machine all of them may have left before a call of theirs is cut off: then more come.
  let rows = await leaveAll()
  for (let round = 1; round < 5 && rows.every(({ kind }) => kind !== 'unknown'); round += 1)
    rows = await leaveAll()
  assert.ok(rows.some(({ kind }) => kind === 'unknown'))
  assert.ok(rows.filter(({ kind }) => kind === 'post').length > CLIENTS / 10)
})

test('however a request ended, nothing of the budget stays reserved for it', async () => {
  await assertAtRest(database, 'project:leaving')
})
