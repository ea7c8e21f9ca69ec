import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { NodeSetup } from '#ports/node-setup.ts'
import {
  agreementCheck,
  connectionsCheck,
  durabilityCheck,
  placesCheck,
  requestsCheck,
} from './install-rules.ts'
import type { InstallFigures } from './queries.ts'

const SETUP: NodeSetup = {
  configuration: { models: 'a', projects: 'b', prices: 'c' },
  keyedBy: 'now',
  blobPlace: 's3',
  connections: 10,
}
type Node = InstallFigures['nodes'][number]
function node(id: string, setup: Partial<NodeSetup> | null, more: Partial<Node> = {}): Node {
  return {
    id,
    host: `host-${id}`,
    version: '1.0',
    role: 'all',
    state: 'alive',
    started_at: '',
    seen_at: '',
    ended_at: null,
    leased_usd: '0.000000000',
    clock_skew_ms: 0,
    setup: setup && { ...SETUP, ...setup },
    ...more,
  }
}
const SERVER = {
  fsync: true,
  full_page_writes: true,
  synchronous_commit: 'on',
  max_connections: 20,
  autovacuum: true,
  open: { transactions: [], hidden: 0 },
  slots: [],
  unvacuumed: [],
}
const install = (nodes: readonly Node[], server: InstallFigures['server'] = SERVER): InstallFigures => ({
  nodes,
  server,
  missing: [],
  newest: { requests: 0, failures: [] },
})
const seen = ({ verdict, says, figures }: ReturnType<typeof placesCheck>) => [verdict, says, figures]

test('durability: PostgreSQL acknowledges only what is on disk', () => {
  for (const [server, verdict, says, off] of [
    [{}, 'ok', /on disk$/, 0],
    [{ synchronous_commit: 'remote_write' }, 'ok', /on disk$/, 0],
    [{ fsync: false }, 'fail', /^PostgreSQL has fsync = off/, 1],
    [{ full_page_writes: false }, 'fail', /^PostgreSQL has full_page_writes = off.*: turn it on$/, 1],
    [{ synchronous_commit: 'off' }, 'fail', /^PostgreSQL has synchronous_commit = off/, 1],
    [{ fsync: false, synchronous_commit: 'off' }, 'fail', /has fsync and synchronous_commit = off/, 2],
  ] as const) {
    const found = durabilityCheck(install([], { ...SERVER, ...server }))
    assert.deepEqual([found.verdict, found.figures], [verdict, { off }])
    assert.match(found.says, says)
  }
  const builtIn = durabilityCheck({ ...install([]), server: undefined })
  assert.deepEqual([builtIn.verdict, builtIn.figures], ['ok', {}])
})

test('connections: all live nodes together open no more than PostgreSQL allows', () => {
  const two = [node('1', {}), node('2', {})]
  const says = '2 nodes can open 20 connections, PostgreSQL allows 20'
  assert.deepEqual(connectionsCheck(install(two)), { verdict: 'ok', says, figures: { most: 20, max: 20 } })
  const silent = [...two, node('3', {}, { state: 'silent' }), node('4', null)]
  assert.equal(connectionsCheck(install(silent))?.verdict, 'ok')
  const more = connectionsCheck(install([node('1', { connections: 21 })]))
  assert.deepEqual([more?.verdict, more?.figures], ['warn', { most: 21, max: 20 }])
  assert.match(more?.says ?? '', /^1 node can open 21 connections, PostgreSQL allows 20: .*max_connections/)
  assert.equal(connectionsCheck({ ...install(two), server: undefined }), undefined)
})

test('agreement: nodes that bill by another configuration are named, with the parts that differ', () => {
  const other = { ...SETUP.configuration, prices: 'x', models: 'y' }
  const same = (nodes: number): string =>
    `${nodes} node${nodes === 1 ? '' : 's'} compared: the same configuration and prices`
  for (const [nodes, says] of [
    [[], same(0)],
    [[node('1', {})], same(1)],
    [[node('1', {}), node('2', {})], same(2)],
    [[node('1', {}), node('2', { configuration: other }, { state: 'silent' }), node('3', null)], same(1)],
    // Digests of two secrets can't be compared.
    [[node('1', {}), node('2', { configuration: other, keyedBy: 'before' })], same(2)],
  ] as const)
    assert.deepEqual(seen(agreementCheck(install(nodes))), ['ok', says, { different: 0 }])
  const differs = 'node 3 on host-3 has other models, prices than 2 on host-2'
  const before = [node('1', {}), node('2', { keyedBy: 'before' })]
  const third = { configuration: other, keyedBy: 'before' }
  const words = ', and each bills and serves by its own: give them the same torana.yaml'
  assert.deepEqual(seen(agreementCheck(install([...before, node('3', third)]))), [
    'warn',
    `${differs}${words}`,
    { different: 2 },
  ])
  assert.equal(
    agreementCheck(install([...before, node('3', third, { version: '1.1' })])).says,
    `${differs}${words}. They run 1.0 and 1.1: look again after the upgrade`,
  )
})

test('places: all nodes keep images in one place', () => {
  const one = [node('1', {}), node('2', {}), node('3', { blobPlace: null })]
  const says = 'all nodes keep images and batch files in one place'
  assert.deepEqual(seen(placesCheck(install(one))), ['ok', says, { places: 1 }])
  assert.deepEqual(seen(placesCheck(install([]))), ['ok', says, { places: 0 }])
  const two = placesCheck(install([...one, node('4', { blobPlace: 'disk' })]))
  assert.deepEqual([two.verdict, two.figures], ['fail', { places: 2 }])
  assert.match(two.says, /in 2 places \(host-1, host-2 \| host-4\)/)
})

test('requests: a share of failures warns from 5 % and fails from 50 %; of fewer than ten, half of them warn', () => {
  for (const [requests, failures, verdict] of [
    [0, [], 'ok'],
    [1, [1], 'warn'],
    [6, [4, 1], 'warn'],
    [4, [2], 'warn'],
    [9, [4], 'ok'],
    [9, [9], 'warn'],
    [10, [1], 'warn'],
    [100, [], 'ok'],
    [100, [4], 'ok'],
    [100, [3, 2], 'warn'],
    [100, [49], 'warn'],
    [100, [20, 20, 9, 1], 'fail'],
  ] as const) {
    const named = failures.map((count, index) => ({ fault: `fault_${index}`, requests: count }))
    const found = requestsCheck({ ...install([]), newest: { requests, failures: named } })
    const failed = failures.reduce((sum: number, one) => sum + one, 0)
    const says = `${failed} of the newest ${requests} request${requests === 1 ? '' : 's'} of 15 minutes failed`
    const faults = named.slice(0, 3).map((one) => `${one.requests} ${one.fault}`)
    const codes = failed === 0 ? '' : `: ${faults.join(', ')}`
    const next = verdict === 'ok' ? '' : '. See torana requests, and docs/errors.md for each'
    assert.deepEqual(seen(found), [verdict, says + codes + next, { requests, failed }])
  }
})
