/** The live topics of requests: what is sent, to whom, and how much of it. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { RequestTrace } from '#core/request-trace.ts'
import type { Caller } from '#http/control/access/caller.ts'
import { keyTopic, requestTopic } from '#http/control/requests/topics.ts'
import type { RequestRecord } from '#ports/observer.ts'
import type { LoggedRequest, RequestReports } from '#ports/request-reports.ts'
import { systemClock } from '#runtime/clock.ts'
import { uuidv7Identifiers } from '#runtime/identifiers.ts'
import { loggedRequest } from '#worker/books/logged-request.ts'
import { NodeRequestTail } from '#worker/books/request-tail.ts'

const identifiers = uuidv7Identifiers(systemClock)
const ADMIN: Caller = { actor: 'admin', role: 'admin', projects: null, isReadOnly: false }

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

/** A node whose neighbours have written these rows. */
function node(others: readonly LoggedRequest[] = []) {
  const tail = new NodeRequestTail('here')
  const reports = { list: async () => ({ rows: others, next: undefined }) } as unknown as RequestReports
  const liveNodes = (): number => (others.length === 0 ? 1 : 2)
  return { tail, live: { tail, reports, node: 'here', liveNodes, nowMs: systemClock.nowMs } }
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

test('requests of other nodes come once each, from when somebody began to watch', async () => {
  const others = [loggedRequest(record(), 'there')].filter((row) => row !== undefined)
  const { live } = node(others)
  const feed = requestTopic(live).open({ caller: ADMIN, projects: undefined, query: {} })
  assert.deepEqual(await feed.news(), [])
  const next = loggedRequest(record(), 'there')
  assert.ok(next)
  others.unshift(next)
  const [event] = (await feed.news()) as { rows: { id: string }[] }[]
  assert.deepEqual(
    event?.rows.map(({ id }) => id),
    [next.id],
  )
  assert.deepEqual(await feed.news(), [])
})

test('a key that somebody waits for is told of once when it is first used, and whenever it is refused', async () => {
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

test('while nobody watches, a row is not even made', () => {
  const { tail } = node()
  const untouched = new Proxy(record(), { get: () => assert.fail('the record was read') })
  tail.written([untouched])
})
