/** The live topics of requests: what each caller gets, and how much of it. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { RequestTrace } from '#core/request/request-trace.ts'
import type { Caller } from '#control/shared/caller.ts'
import { keyTopic, requestTopic } from '#control/requests/live-routes.ts'
import type { RequestRecord } from '#ports/observer.ts'
import { systemClock } from '#runtime/clock.ts'
import type { Database } from '#stores/postgres/database.ts'
import { PostgresRequests } from '#stores/postgres/ledger/requests.ts'
import { uuidv7Identifiers } from '#runtime/identifiers.ts'
import { postgresStores } from '#test/support/ledger-stores.ts'
import { absent } from '#test/support/stores/absent.ts'
import { NodeRequestTail } from '#worker/ledger/request-tail.ts'

const open = postgresStores()
const identifiers = uuidv7Identifiers(systemClock)
const ADMIN: Caller = { kind: 'member', actor: 'admin', role: 'admin', projects: null, isReadOnly: false }

function record(overrides: Partial<RequestRecord> = {}): RequestRecord {
  return {
    requestId: identifiers.next(),
    route: 'embeddings',
    status: 200,
    project: 'search',
    keyId: 'search/indexer',
    durationMs: 12,
    trace: new RequestTrace(0),
    ...overrides,
  }
}

/** A node that is alone, unless it has the database of others. */
function node(reports?: Database) {
  const requestTail = new NodeRequestTail()
  const liveNodes = (): number => (reports === undefined ? 1 : 2)
  const others = { reports: reports ?? absent<Database>('requests'), liveNodes }
  return { tail: requestTail, live: { requestTail, hostname: 'watching', clock: systemClock, ...others } }
}

test('a live tail sends what matches its filters, newest first, at most twenty, and says how many it left out', async () => {
  const { tail, live } = node()
  const feed = requestTopic(live).open({ caller: ADMIN, projects: undefined, query: { outcome: 'failed' } })
  tail.written([
    record(),
    record({ status: 502, fault: 'upstream_unreachable' }),
    record({ route: 'models' }),
  ])
  const [event] = (await feed.news()) as { rows: { status: number }[]; skipped: number }[]
  assert.deepEqual([event?.rows.map(({ status }) => status), event?.skipped], [[502], 0])
  assert.deepEqual(await feed.news(), [])
  const many = Array.from({ length: 30 }, (_, index) => record({ status: 500 + index }))
  tail.written(many)
  const [burst] = (await feed.news()) as { rows: { status: number }[]; skipped: number }[]
  assert.deepEqual([burst?.rows.length, burst?.rows[0]?.status, burst?.skipped], [20, 529, 10])
  feed.close?.()
})

test('a live tail never sends a request of a project that its reader may not see', async () => {
  const { tail, live } = node()
  const caller = { ...ADMIN, role: 'developer' as const, projects: ['search'] }
  const query = { key: 'ads/website' }
  for (const feed of [
    requestTopic(live).open({ caller, projects: ['search'], query: {} }),
    requestTopic(live).open({ caller, projects: ['search'], query }),
    keyTopic(live).open({ caller, projects: ['search'], query }),
  ]) {
    tail.written([
      record({ project: 'ads', keyId: 'ads/website' }),
      record({ project: undefined, keyId: undefined }),
    ])
    assert.deepEqual(await feed.news(), [])
  }
})

test('requests of other nodes come once each, from the first watcher on', async () => {
  const { database, nodeId } = await open()
  const log = new PostgresRequests(database, nodeId)
  await log.append([record()])
  const { live } = node(database)
  const feed = requestTopic(live).open({ caller: ADMIN, projects: undefined, query: {} })
  assert.deepEqual(await feed.news(), [])
  const next = record()
  await log.append([next])
  const [event] = (await feed.news()) as { rows: { id: string; node: string }[] }[]
  assert.deepEqual(
    event?.rows.map((row) => [row.id, row.node]),
    [[next.requestId, 'here']],
  )
  assert.deepEqual(await feed.news(), [])
})

test('a watched key is reported once when it is first used, and whenever it is refused', async () => {
  const { tail, live } = node()
  const feed = keyTopic(live).open({ caller: ADMIN, projects: undefined, query: { key: 'search/indexer' } })
  tail.written([record({ keyId: 'search/other' }), record(), record()])
  const first = (await feed.news()) as { id: string; first_request: object | null; refused: object | null }[]
  assert.deepEqual([first.length, first[0]?.id, first[0]?.refused], [1, 'search/indexer', null])
  assert.ok(first[0]?.first_request)
  tail.written([record({ status: 403, fault: 'model_not_allowed' })])
  const [refusal] = (await feed.news()) as {
    refused: { fault: string } | null
    first_request: object | null
  }[]
  assert.deepEqual([refusal?.refused?.fault, refusal?.first_request], ['model_not_allowed', null])
})

test('without a watcher, no row is made', () => {
  const { tail } = node()
  const untouched = new Proxy(record(), { get: () => assert.fail('the record was read') })
  tail.written([untouched])
})
