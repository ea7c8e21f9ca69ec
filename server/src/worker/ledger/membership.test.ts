import assert from 'node:assert/strict'
import { test } from 'node:test'
import { NodeEnded, OtherSecret } from '#ports/ledger.ts'
import { StoreUnreachable } from '#ports/store.ts'
import { nodeClock } from '#runtime/clock.ts'
import { TestClock } from '#test/support/key-nodes.ts'
import { MemoryLedgerStore } from '#test/support/stores/ledger-store.ts'
import { Membership, startProblem } from './membership.ts'

const NODE = { id: '01930000-0000-7000-8000-00000000000a', host: 'here', version: '1.0.0' }

function aMember({ storeAheadMs = 0 } = {}) {
  const clock = new TestClock()
  const store = new MemoryLedgerStore({
    nowMs: () => clock.nowMs() + storeAheadMs,
    monotonicMs: () => clock.monotonicMs(),
  })
  const state = { prepared: 0, failure: undefined as Error | undefined }
  const prepare = async (): Promise<void> => {
    state.prepared += 1
    if (state.failure !== undefined) throw state.failure
  }
  const followed = nodeClock(clock)
  const membership = new Membership({ node: NODE, store, clock: followed, prepare })
  return { store, state, membership, clock: followed }
}

test('a node prepares its store and registers once, and then only sends heartbeats', async () => {
  const { membership, state, store, clock } = aMember({ storeAheadMs: 250 })
  await store.startNode({ id: 'another' })
  await membership.renew()
  await membership.renew()
  assert.deepEqual([state.prepared, membership.liveNodes, clock.skewMs()], [1, 2, -250])
})

test('nothing uses the tables before the node has joined, and a store that comes back lets it join', async () => {
  const { membership, state } = aMember()
  const work = async (): Promise<string> => 'done'
  state.failure = new StoreUnreachable('no route to host')
  await assert.rejects(membership.renew(), StoreUnreachable)
  await assert.rejects(membership.onceJoined(work), StoreUnreachable)
  state.failure = undefined
  await membership.renew()
  assert.equal(await membership.onceJoined(work), 'done')
})

test('a node that others ended is not registered again', async () => {
  const { membership, state, store } = aMember()
  await membership.renew()
  await store.endNode(NODE.id, [])
  await assert.rejects(membership.renew(), NodeEnded)
  assert.equal(state.prepared, 1)
})

test('another secret fails a start; a node that has started is ended once and writes nothing', async () => {
  const { membership, state } = aMember()
  state.failure = new OtherSecret()
  await assert.rejects(membership.renew(), OtherSecret)
  let refused = 0
  membership.onRefused = () => void (refused += 1)
  await assert.rejects(membership.renew(), StoreUnreachable)
  await assert.rejects(membership.renew(), StoreUnreachable)
  assert.equal(refused, 1)
})

test('a start fails for what a person must correct, and goes on where waiting helps', () => {
  const away = new StoreUnreachable('connection refused')
  const mistake = 'password authentication failed'
  const cases: readonly [
    error: Error,
    known: { mistake?: string; hasWorked?: boolean },
    problem: RegExp | undefined,
  ][] = [
    [away, {}, undefined],
    [away, { mistake }, /^DATABASE_URL: PostgreSQL says: password authentication failed\./],
    [away, { mistake, hasWorked: true }, undefined],
    [new OtherSecret(), { hasWorked: true }, /^TORANA_SECRET: /],
    [new Error('permission denied'), { hasWorked: true }, /^the database cannot be used: permission denied/],
  ]
  for (const [error, { mistake: said, hasWorked = false }, problem] of cases) {
    const found = startProblem(error, { mistake: said, hasWorked })
    if (problem === undefined) assert.equal(found, undefined)
    else assert.match(found ?? '', problem)
  }
})
