/**
 * The cost of one call with an unclear end: charged and then dropped, not counted, resolved by hand. The cost of images is
 * in images.test.ts.
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, test } from 'node:test'
import fc from 'fast-check'
import { PostgresLedger } from '#stores/postgres/ledger/ledger.ts'
import type { Asked } from '#test/support/gateway.ts'
import { askPatiently } from '#test/support/patience.ts'
import { eventually } from '#test/support/process.ts'
import { numberText, vectorOf } from '../../../../lab/fake-provider/vectors.ts'
import { startGatewayOnPostgres } from './gateway-on-postgres.ts'
import { assertAtRest, NANO_USD_PER_TOKEN, PRICE, rowsIn, sumOf, type Row } from './ledger-rows.ts'

const KEY = 'key-of-the-project-with-odd-outcomes'
const TEXT = 'twelve bytes'
/** The most a text can cost: a token a byte, and the eight that a server may put around it. */
const RESERVED = (TEXT.length + 8) * NANO_USD_PER_TOKEN
/** The fake provider's count: a token per four bytes. */
const COST = (TEXT.length / 4) * NANO_USD_PER_TOKEN

/** Answers well, and says that it counted nothing. */
const uncounting = createServer((request, response) => {
  request.resume().once('end', () => {
    const vector = numberText(vectorOf(TEXT, 16))
    const usage = '{"prompt_tokens":0,"total_tokens":0}'
    response.setHeader('content-type', 'application/json')
    response.end(
      `{"object":"list","data":[{"object":"embedding","index":0,"embedding":${vector}}],"usage":${usage}}`,
    )
  })
}).listen(0, '127.0.0.1')
await once(uncounting, 'listening')
after(() => uncounting.close())
const uncountingUrl = `http://127.0.0.1:${(uncounting.address() as AddressInfo).port}/v1`

/** One for each run: a deployment that drops calls again and again gets none for a while. */
const dropping = Array.from({ length: 25 }, (_, index) => `dropping${index}-w16`)

const { gateway, database } = await startGatewayOnPostgres({
  models: {
    ...Object.fromEntries(
      dropping.map((model) => [model, { on: ['serves-then-resets', 'plain'], price: PRICE }]),
    ),
    'plain-w16': { on: 'plain', price: PRICE },
    'dropping-w16': { on: ['serves-then-resets', 'plain'], price: PRICE },
    'cut-w16': { on: ['half-body', 'plain'], price: PRICE },
    'late-w16': { on: ['slow-1800', 'plain'], price: PRICE },
    'broken-w16': { on: ['wrong-width', 'plain'], price: PRICE },
    'doomed-w16': { on: 'serves-then-resets', price: PRICE },
    'refusing-w16': { on: ['status-500', 'status-429', 'plain'], price: PRICE },
    'silent-w16': { on: 'no-usage', price: PRICE },
    'zero-w16': { on: 'zero', upstream: { baseUrl: uncountingUrl }, price: PRICE },
    'uncounted-w16': {
      on: 'zero.uncounted',
      upstream: { baseUrl: uncountingUrl },
      capabilities: { countsTokens: false },
      price: PRICE,
    },
  },
  projects: {
    odd: { keys: [{ name: 'k', secret: KEY }], budget: { usd: 1, per: 'total', hard: true } },
  },
  limits: { attemptTimeoutMs: 1200 },
})
const { provider } = gateway

async function spoolWaiting(): Promise<string | undefined> {
  const metrics = await (await fetch(`${gateway.controlUrl}/metrics`)).text()
  return /^torana_spool_waiting (\d+)$/m.exec(metrics)?.[1]
}

/** One request and its ledger entries. */
async function ask(model: string): Promise<{ readonly answer: Asked; readonly rows: Row[] }> {
  const answer = await askPatiently(gateway, { model, input: TEXT }, { key: KEY })
  const requestId = answer.headers.get('x-request-id')
  // A failed request does not wait for its rows; this one comes after them.
  if (answer.status !== 200) await askPatiently(gateway, { model: 'plain-w16', input: TEXT }, { key: KEY })
  // On a busy machine PostgreSQL may be slow for a moment: then they are on disk, and written a little later.
  await eventually(async () => assert.equal(await spoolWaiting(), '0'))
  return { answer, rows: (await rowsIn(database)).filter((row) => row.requestId === requestId) }
}

const shapeOf = (rows: readonly Row[]) =>
  rows.map(({ attempt, kind, tokens, nanoUsd }) => ({ attempt, kind, tokens, nanoUsd }))

for (const model of ['dropping-w16', 'cut-w16', 'late-w16', 'broken-w16']) {
  test(`${model}: a call that may have been charged is one unknown that counts as spent, its retry elsewhere one post`, async () => {
    const { answer, rows } = await ask(model)
    assert.equal(answer.status, 200, answer.text)
    assert.equal(answer.headers.get('x-torana-attempts'), '2')
    assert.deepEqual(shapeOf(rows), [
      { attempt: 0, kind: 'unknown', tokens: undefined, nanoUsd: RESERVED },
      { attempt: 1, kind: 'post', tokens: 3, nanoUsd: COST },
    ])
    await served(rows.map(({ callId }) => callId))
  })
}

test('charged and dropped, twice: two unknowns, no post, and the caller gets the fault', async () => {
  const { answer, rows } = await ask('doomed-w16')
  assert.equal(answer.body.error.code, 'upstream_unreachable')
  const unknown = { kind: 'unknown', tokens: undefined, nanoUsd: RESERVED }
  assert.deepEqual(shapeOf(rows), [
    { attempt: 0, ...unknown },
    { attempt: 1, ...unknown },
  ])
  await served(rows.map(({ callId }) => callId))
})

test('an upstream that answers with an error charges nothing: only the call that was served is in the ledger', async () => {
  const { rows } = await ask('refusing-w16')
  assert.deepEqual(shapeOf(rows), [{ attempt: 2, kind: 'post', tokens: 3, nanoUsd: COST }])
})

for (const [model, what] of [
  ['silent-w16', 'says nothing'],
  ['uncounted-w16', 'always says zero, and is declared not to count'],
] as const) {
  test(`an upstream that ${what}: usage is estimated and says so, in the answer and in the ledger`, async () => {
    const { answer, rows } = await ask(model)
    assert.equal(answer.headers.get('x-torana-usage'), 'estimated')
    const tokens = answer.body.usage.prompt_tokens
    assert.ok(tokens > 0)
    assert.deepEqual(
      rows.map(({ kind, usage, tokens }) => ({ kind, usage, tokens })),
      [{ kind: 'post', usage: 'estimated', tokens }],
    )
    assert.equal(sumOf(rows), tokens * NANO_USD_PER_TOKEN)
  })
}

test('an explicit zero of a model with a price is no count: every text has a token', async () => {
  const { answer, rows } = await ask('zero-w16')
  assert.equal(answer.headers.get('x-torana-usage'), 'estimated')
  const tokens = answer.body.usage.prompt_tokens
  assert.ok(tokens > 0)
  assert.deepEqual(shapeOf(rows), [
    { attempt: 0, kind: 'post', tokens, nanoUsd: tokens * NANO_USD_PER_TOKEN },
  ])
})

test('a count by the upstream is taken as it is', async () => {
  const { answer, rows } = await ask('plain-w16')
  assert.equal(answer.headers.get('x-torana-usage'), 'upstream')
  assert.deepEqual(
    rows.map(({ usage, tokens }) => ({ usage, tokens })),
    [{ usage: 'upstream', tokens: 3 }],
  )
})

test('the budget has spent exactly the sum of all rows', async () => {
  const [budget] = await assertAtRest(database, 'project:odd')
  assert.ok((budget?.spent ?? 0) > 5 * RESERVED)
})

/** Resolutions of one unknown by operators, one after another or at the same time. */
const resolution = fc.oneof(
  fc.constant({ kind: 'void' } as const),
  fc.record({
    kind: fc.constant('post' as const),
    costNanoUsd: fc.bigInt({ min: 0n, max: BigInt(3 * RESERVED) }),
  }),
)

test('an unknown is resolved once, however often it is tried: its rows add up to what it cost, and no credit is made', async () => {
  const ledger = new PostgresLedger(database)
  let run = 0
  const runs = fc.asyncProperty(
    fc.array(resolution, { minLength: 1, maxLength: 4 }),
    fc.boolean(),
    async (resolutions, atOnce) => {
      const { requestId, attempt } = (await ask(dropping[run++ % dropping.length] as string)).rows[0] as Row
      const resolve = (each: (typeof resolutions)[number]): Promise<boolean> =>
        ledger.resolveUnknown({ requestId, attempt, actor: { kind: 'member', name: 'a test' }, ...each })
      const took: boolean[] = []
      if (atOnce) took.push(...(await Promise.all(resolutions.map(resolve))))
      else for (const each of resolutions) took.push(await resolve(each))
      assert.equal(took.filter(Boolean).length, 1)
      const winner = resolutions[took.indexOf(true)]
      const cost = winner?.kind === 'post' ? Number(winner.costNanoUsd) : 0
      const rows = (await rowsIn(database, 'odd')).filter((row) => row.requestId === requestId)
      assert.equal(sumOf(rows.filter((row) => row.attempt === attempt)), cost)
      assert.equal(sumOf(rows), cost + COST)
    },
  )
  await fc.assert(runs, { numRuns: dropping.length })
  const budgets = await assertAtRest(database, 'project:odd')
  assert.ok(budgets.every(({ spent }) => spent >= 0))
})

/** Whether the provider did the work is known to it alone; it must agree that each of these calls was made. */
async function served(callIds: readonly string[]): Promise<void> {
  await eventually(async () => {
    const calls = new Set(
      provider
        .entries()
        .filter((entry) => entry.served)
        .map(({ callId }) => callId),
    )
    for (const callId of callIds) assert.ok(calls.has(callId), `${callId} was not served`)
  })
}
