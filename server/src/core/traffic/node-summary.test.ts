import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { DEPLOYMENT_STATES } from '../schedule/scheduler.ts'
import { NO_COUNTS } from './latency-counts.ts'
import {
  flowsFor,
  joined,
  MAX_FLOWS,
  standingsOf,
  worseOf,
  type DeploymentSummary,
  type Flow,
  type NodeSummary,
} from './node-summary.ts'

const aFlow = (given: Partial<Flow>): Flow => ({
  project: 'search',
  key: 'search/indexer',
  model: 'm',
  deployment: 'm/one',
  requests: 1,
  failed: 0,
  tokens: 10,
  images: 0,
  nanoUsd: '5',
  p95Ms: null,
  ...given,
})

const aDeployment = (given: Partial<DeploymentSummary>): DeploymentSummary => ({
  id: 'm/one',
  state: 'healthy',
  sinceMs: 100,
  untilMs: null,
  reason: null,
  inFlight: 1,
  limit: 8,
  learnsLimit: true,
  rate: { requests: 2, tokens: 20, images: 0 },
  calls: 100,
  failed: 1,
  failures: { timedOut: 1 },
  latency: { classes: [80], counts: [100] },
  ...given,
})

const aNode = (node: string, given: Partial<NodeSummary>): NodeSummary => ({
  node,
  atMs: 0,
  loopBusy: 0,
  spoolWaiting: 0,
  callsUnderWay: 0,
  isStoreAway: false,
  ledgerDifferences: 0,
  deployments: [],
  flows: [],
  ...given,
})

test('a deployment has the worst state of any node, and everything else is the sum of all nodes', () => {
  const unhealthy = aDeployment({
    state: 'ejected',
    sinceMs: 300,
    untilMs: 900,
    reason: 'refused',
    latency: NO_COUNTS,
  })
  const standing = standingsOf([
    aNode('a', { deployments: [aDeployment({})] }),
    aNode('b', { deployments: [unhealthy] }),
    aNode('c', { deployments: [{ ...unhealthy, sinceMs: 200, untilMs: 950 }] }),
  ]).get('m/one')
  assert.ok(standing)
  const { state, sinceMs, untilMs, reason, inFlight, limit, calls, failedShare, failures, rate, nodes } =
    standing
  assert.deepEqual([state, sinceMs, untilMs, reason], ['ejected', 200, 900, 'refused'])
  assert.deepEqual([inFlight, limit, calls, failedShare, rate.requests], [3, 24, 300, 0.01, 6])
  assert.deepEqual(failures, { timedOut: 3 })
  assert.deepEqual(
    nodes.map((one) => one.state),
    ['healthy', 'ejected', 'ejected'],
  )
  assert.equal(standing.p95Ms, standing.p50Ms)
})

test('the worse of two states does not depend on their order, and is one of them', () => {
  const states = fc.constantFrom(...DEPLOYMENT_STATES)
  fc.assert(
    fc.property(states, states, states, (a, b, c) => {
      assert.equal(worseOf(a, b), worseOf(b, a))
      assert.equal(worseOf(worseOf(a, b), c), worseOf(a, worseOf(b, c)))
      assert.ok([a, b].includes(worseOf(a, b)))
    }),
  )
})

const flows = fc.array(
  fc.record({
    project: fc.constantFrom('search', 'ads', 'studio'),
    name: fc.constantFrom(...Array.from({ length: 30 }, (_, index) => `k${index}`)),
    deployment: fc.constantFrom('m/one', 'm/two', 'n/one', null),
    requests: fc.integer({ min: 1, max: 1000 }),
    nano: fc.bigInt({ min: 0n, max: 10n ** 20n }),
  }),
  { maxLength: 300 },
)

test('joining flows loses no request and no nano-dollar, and shows no more than a picture can', () => {
  fc.assert(
    fc.property(flows, (given) => {
      const all = given.map(({ project, name, deployment, requests, nano }) =>
        aFlow({ project, key: `${project}/${name}`, deployment, requests, nanoUsd: String(nano) }),
      )
      const shown = joined(all)
      assert.ok(shown.length <= MAX_FLOWS + 1)
      const requestsOf = (list: readonly Flow[]): number => list.reduce((sum, one) => sum + one.requests, 0)
      const nanoOf = (list: readonly Flow[]): bigint =>
        list.reduce((sum, one) => sum + BigInt(one.nanoUsd), 0n)
      assert.equal(requestsOf(shown), requestsOf(all))
      assert.equal(nanoOf(shown), nanoOf(all))
    }),
  )
})

test('a developer never sees a key, a sum or a way of another project', () => {
  fc.assert(
    fc.property(flows, (given) => {
      const all = given.map(({ project, name, deployment, requests, nano }) =>
        aFlow({ project, key: `${project}/${name}`, deployment, requests, nanoUsd: String(nano) }),
      )
      const seen = flowsFor(all, ['ads'])
      const ways = new Set(all.filter(({ project }) => project === 'ads').map(({ deployment }) => deployment))
      for (const { project, key, nanoUsd, deployment } of seen) {
        if (project === 'ads') continue
        assert.ok(key === 'other projects' || key === 'others')
        if (key === 'other projects') {
          assert.equal(nanoUsd, '0')
          assert.ok(ways.has(deployment))
        }
      }
    }),
  )
})
