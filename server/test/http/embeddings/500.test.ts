import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { defaultLimits } from '#core/settings.ts'
import { BodyRoom } from '#http/gate/body-room.ts'
import { clientAddressBehind } from '#http/client-address.ts'
import { FailedKeys } from '#http/gateway/caller/failed-keys.ts'
import { CallsAtOnce } from '#http/gateway/caller/key-bounds.ts'
import { gatewayServer } from '#http/gateway/server.ts'
import type { RequestRecord } from '#ports/observer.ts'
import { aModel } from '#test/support/models.ts'
import { memoryTokens } from '#test/support/embedding.ts'
import { memoryFileParts } from '#test/support/files.ts'
import { memoryImages } from '#test/support/image-parts.ts'
import { plainTraffic } from '#test/support/dispatch.ts'
import { memoryMoney } from '#test/support/money.ts'

/** A listener whose own parts fail in ways that no fault foresees. */
const records: RequestRecord[] = []
const model = aModel({ id: 'plain-w8' })
const app = gatewayServer({
  openapi: () => '{}',
  notReady: () => undefined,
  docsUrl: () => 'http://docs.test',
  keys: {
    find: (secret) =>
      secret === 'broken-store-0000000000000'
        ? Promise.reject(new Error('canary: store'))
        : {
            id: 'k',
            name: 'k',
            project: 'p',
            models: undefined,
            expiresAtMs: undefined,
            limits: [],
            budgets: [],
          },
  },
  upstream: { embed: () => Promise.reject(new Error('canary: a bug with a secret in it')) },
  tokens: memoryTokens,
  json: {
    parse: () => Promise.reject(new Error('canary: a thread died')),
    parseWithFiles: () => Promise.reject(new Error('canary: a thread died')),
  },
  clock: { nowMs: Date.now, monotonicMs: () => performance.now() },
  identifiers: { next: () => crypto.randomUUID() },
  observer: {
    callEnded: () => {},
    overcounted: () => {},
    undercounted: () => {},
    requestEnded: (record) => void records.push(record),
  },
  limits: defaultLimits,
  failedKeys: new FailedKeys(() => performance.now()),
  clientAddress: clientAddressBehind([]),
  bodyRoom: new BodyRoom(defaultLimits),
  callsAtOnce: new CallsAtOnce(() => 1),
  catalog: () => ({ models: new Map([[model.id, model]]), retired: new Map(), projects: [] }),
  ...plainTraffic(),
  nameSpace: () => undefined,
  ...memoryFileParts({
    begin() {
      throw new Error('canary: a thread died')
    },
  }),
  brake: { refuses: () => false },
  yieldLoop: () => Promise.resolve(),
  yieldOnArrival: () => Promise.resolve(),
  ...memoryMoney(),
  ...memoryImages(),
})
const url = await app.listen({ host: '127.0.0.1', port: 0 })
after(() => app.close())

async function ask(key: string, input: unknown): Promise<Response> {
  return fetch(`${url}/v1/embeddings`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'plain-w8', input }),
  })
}

for (const [title, input] of [
  ['one input', 'a'],
  ['many inputs', ['a', 'b']],
  ['a body too large to be parsed at once', 'a'.repeat(2_000_000)],
] as const) {
  test(`a bug of ours with ${title} is 500: the caller gets an id, the log gets the cause`, async () => {
    records.length = 0
    const answer = await ask('any-key-of-enough-length-01', input)
    const text = await answer.text()
    assert.equal(answer.status, 500)
    assert.doesNotMatch(text, /canary/)
    const { error } = JSON.parse(text) as { error: { code: string; request_id: string } }
    assert.equal(error.code, 'internal_error')
    assert.equal(answer.headers.get('x-request-id'), error.request_id)
    assert.equal(records.length, 1)
    assert.equal(records[0]?.requestId, error.request_id)
    assert.match(String(records[0]?.cause), /canary/)
    assert.equal(records[0]?.clientAddress, '127.0.0.1')
  })
}

test('a key store that fails is 503 and worth a retry, never 401', async () => {
  const answer = await ask('broken-store-0000000000000', 'a')
  const text = await answer.text()
  assert.equal(answer.status, 503)
  assert.match(text, /key_store_unreachable/)
  assert.doesNotMatch(text, /canary/)
  assert.equal(answer.headers.get('x-should-retry'), 'true')
})
