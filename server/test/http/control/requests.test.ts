/** The routes of the request log: what each caller sees. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { RequestTrace } from '#core/request/request-trace.ts'
import type { RequestRecord } from '#ports/observer.ts'
import { PostgresRequests } from '#stores/postgres/ledger/requests.ts'
import { jobKeysOf } from '#runtime/secret.ts'
import { defaultLimits } from '#core/settings.ts'
import { postgresStores } from '#test/support/ledger-stores.ts'
import { SECRETS } from '#test/support/directory.ts'
import { assertFault } from '#test/support/errors.ts'
import { startScopedControl } from '#test/support/scoped-control.ts'
import { absent } from '#test/support/stores/absent.ts'

const open = postgresStores()

interface List {
  readonly data: readonly {
    readonly id: string
    readonly project: string
    readonly cost_usd: string | null
  }[]
  readonly has_more: boolean
  readonly next: string | null
}

async function started() {
  const stores = await open()
  const { database, clock, nodeId, identifiers } = stores
  const store = new PostgresRequests(database, nodeId)
  const { nowMs } = clock
  const control = await startScopedControl({
    node: absent('node', {
      reports: database,
      jobKeys: jobKeysOf(SECRETS),
      limits: defaultLimits,
      clock: { ...clock, nowMs: () => nowMs() + 1000 },
    }),
  })
  const log = async (record: Partial<RequestRecord> = {}): Promise<string> => {
    const requestId = identifiers.next()
    const plain = {
      route: 'embeddings',
      status: 200,
      project: 'search',
      keyId: 'search/indexer',
      durationMs: 12,
    }
    await store.append([{ ...plain, trace: new RequestTrace(0), requestId, ...record }])
    return requestId
  }
  return { ...stores, ...control, log }
}

test('a developer sees the requests of the own projects, in every list and by id, and no others', async () => {
  const { askAs, log, ledger, nodeId, entry } = await started()
  const own = await log()
  const other = await log({
    project: 'ads',
    keyId: 'ads/website',
    model: 'secret-model',
    fault: 'x',
    status: 500,
  })
  const anonymous = await log({ project: undefined, keyId: undefined, status: 401, fault: 'invalid_api_key' })
  const gone = entry({ project: 'ads' })
  await ledger.append(nodeId, [gone])
  const idsOf = ({ data }: List): string[] => data.map(({ id }) => id).toSorted()
  assert.deepEqual(idsOf((await askAs<List>('admin', '/requests')).body), [own, other, anonymous].toSorted())
  assert.deepEqual(idsOf((await askAs<List>('search', '/requests')).body), [own])
  assert.deepEqual(idsOf((await askAs<List>('search', '/requests?key=ads/website')).body), [])
  assertFault(await askAs('search', '/requests?project=ads'), 'forbidden')
  const { body } = await askAs<{ total: number; facets: { model: object } }>(
    'search',
    '/requests/histogram?facets=true',
  )
  assert.deepEqual([body.total, body.facets.model], [1, {}])
  for (const id of [other, anonymous, gone.requestId]) {
    assertFault(await askAs('search', `/requests/${id}`), 'not_found')
  }
  assert.equal((await askAs('search', `/requests/${own}`)).status, 200)
})

test('money is text with nine decimals, line by line, and the lines sum to what was posted', async () => {
  const { askAs, log, ledger, nodeId, entry } = await started()
  const trace = new RequestTrace(0)
  trace.reservation = { nanoUsd: 1_346_488n, from: ['project:search'] }
  const call = {
    callId: entry().callId,
    deployment: 'small/openai',
    part: 0,
    inputs: 101,
    startedMs: 8,
    endedMs: 193,
    waitedMs: 0,
    firstByteMs: undefined,
    outcome: 'ok',
    status: undefined,
    reason: undefined,
    retryAfterMs: undefined,
    upstreamRequestId: 'req_8f1c',
    insteadOf: undefined,
    sharedWith: 0,
    counts: [{ of: 'tokens', count: 14_210, nanoUsd: 20_000_000n, per: 1_000_000 }],
  } as const
  trace.calls.push({ ...call, attempt: 0 })
  const id = await log({ trace, amountNanoUsd: 284_200n, cache: { hits: 412, misses: 228 }, inputs: 640 })
  await ledger.append(nodeId, [
    entry({ requestId: id, tokens: 14_210, amountNanoUsd: 284_200n }),
    entry({ requestId: id, attempt: 1, deployment: 'small/cache', tokens: 0, amountNanoUsd: 0n }),
  ])
  const { body } = await askAs<{
    cost_usd: string
    money: { lines: { of: string; count: number; price_usd: string | null; amount_usd: string }[] }
  }>('search', `/requests/${id}`)
  assert.equal(body.cost_usd, '0.000284200')
  assert.partialDeepStrictEqual(body.money, {
    reserved_usd: '0.001346488',
    reserved_from: ['project:search'],
    posted_usd: '0.000284200',
    returned_usd: '0.001062288',
    lines: [
      { of: 'tokens', count: 14_210, price_usd: '0.020000000', per: 1_000_000, amount_usd: '0.000284200' },
      { of: 'hits', count: 412, price_usd: null, amount_usd: '0.000000000' },
    ],
  })
})

test('a request whose log was deleted answers with its rows in the ledger', async () => {
  const { askAs, ledger, nodeId, entry } = await started()
  const posted = entry()
  await ledger.append(nodeId, [posted])
  const { status, body } = await askAs<object>('search', `/requests/${posted.requestId}`)
  assert.equal(status, 200)
  assert.partialDeepStrictEqual(body, {
    log: 'deleted',
    posted_usd: '0.000000200',
    ledger: [{ kind: 'post', amount_usd: '0.000000200' }],
  })
})

test('a list goes on where it ended, and a cursor that no list gave is refused', async () => {
  const { askAs, log } = await started()
  const ids = [await log(), await log(), await log()].toSorted().toReversed()
  const first = (await askAs<List>('search', '/requests?limit=2')).body
  assert.deepEqual([first.data.map(({ id }) => id), first.has_more], [ids.slice(0, 2), true])
  const second = (await askAs<List>('search', `/requests?limit=2&after=${first.next}`)).body
  assert.deepEqual(
    [second.data.map(({ id }) => id), second.has_more, second.next],
    [ids.slice(2), false, null],
  )
  assertFault(await askAs('search', '/requests?after=zzz'), 'invalid_parameter')
  assertFault(await askAs('search', '/requests?limit=201'), 'invalid_parameter')
  assertFault(
    await askAs('search', '/requests?from=2026-01-02T00:00:00Z&to=2026-01-01T00:00:00Z'),
    'invalid_parameter',
  )
})
