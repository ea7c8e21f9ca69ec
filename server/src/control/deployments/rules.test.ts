import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Model } from '#core/catalog/catalog.ts'
import { modelEnd } from '#core/catalog/model-end.ts'
import type { DeploymentStateName } from '#core/schedule/scheduler.ts'
import type { DeploymentStanding } from '#core/traffic/node-summary.ts'
import { aDeployment } from '#test/support/deployments.ts'
import { aModel } from '#test/support/models.ts'
import type { SpaceGuard } from '../shared/space-guard.ts'
import { CELL_MS, CELLS, cellsOf, deploymentBody, standingBody, type DeploymentView } from './rules.ts'

test('a cell has the worst state of its half hour; slots outside of the day are left out', () => {
  const slot = (cell: number, worst: 'healthy' | 'ejected' | 'quarantined', deployment = 'm/one') => ({
    deployment,
    atMs: 1000 + cell * CELL_MS,
    worst,
  })
  const cells = cellsOf(
    [
      slot(-1, 'quarantined'),
      slot(0, 'healthy'),
      slot(2, 'healthy'),
      slot(2.5, 'ejected'),
      slot(2.6, 'healthy'),
      slot(CELLS, 'ejected'),
      slot(CELLS - 1, 'quarantined', 'm/two'),
    ],
    1000,
  )
  assert.deepEqual(
    [...cells],
    [
      ['m/one', `g.b${'.'.repeat(CELLS - 3)}`],
      ['m/two', `${'.'.repeat(CELLS - 1)}q`],
    ],
  )
})

const STARTED_MS = Date.UTC(2026, 10, 17)
const started = new Date(STARTED_MS).toISOString()
const ONE = aDeployment({
  id: 'm/one',
  upstream: { name: 'one' },
  upstreamModel: 'm-v2',
  priority: 1,
  weight: 3,
  end: modelEnd({ on: '2026-12-01' }),
  limits: { requestsPerMinute: 600, tokensPerMinute: 90_000, imagesPerMinute: 12 },
})
const FIRST = aDeployment({ id: 'm/first', upstream: { name: 'first' } })
const MODEL = aModel({ id: 'm', managedBy: 'torana.yaml:14', deployments: [ONE, FIRST] })
const PICTURES = { ...MODEL, kind: 'image' } as unknown as Model

const STANDING: DeploymentStanding = {
  state: 'ejected',
  sinceMs: STARTED_MS + 1000,
  untilMs: STARTED_MS + 9000,
  reason: 'connection refused',
  inFlight: 3,
  limit: 8,
  learnsLimit: false,
  rate: { requests: 2, tokens: 100, images: 0.1 },
  calls: 10,
  failures: { unreachable: 9 },
  failedShare: 0.9,
  p50Ms: 20,
  p95Ms: 90,
  nodes: [{ node: 'n1', state: 'ejected', inFlight: 3, limit: null }],
}
const DRAIN = { deployment: 'm/one', reason: 'moving', by: 'ann', atMs: STARTED_MS + 5000 }

type SpaceStanding = ReturnType<SpaceGuard['standingOf']>
function view({
  standing,
  isDrained = false,
  cells,
  name,
  space,
}: {
  readonly standing?: Partial<DeploymentStanding>
  readonly isDrained?: boolean
  readonly cells?: string
  readonly name?: string
  readonly space?: Partial<SpaceStanding>
} = {}): DeploymentView {
  const spaceGuard = { standingOf: () => space as SpaceStanding } as unknown as SpaceGuard
  return {
    node: { spaceGuard, nameSpace: () => name, startedAtMs: STARTED_MS },
    standings: new Map(standing && [['m/one', { ...STANDING, ...standing }]]),
    drains: new Map(isDrained ? [['m/one', DRAIN]] : []),
    cells: new Map(cells === undefined ? [] : [['m/one', cells]]),
    skippedFor: (_model, { id }) => (id === 'm/two' ? { keys: 2, reason: 'unpriced' } : null),
  }
}

test('a deployment that no node has called is healthy since the start of this node, and has all its headroom', () => {
  assert.deepEqual(deploymentBody(MODEL, ONE, view()), {
    managed_by: 'configuration',
    managed_at: 'torana.yaml:14',
    id: 'm/one',
    model: 'm',
    kind: 'embedding',
    space_id: null,
    upstream: 'one',
    upstream_model: 'm-v2',
    state: 'healthy',
    since: started,
    until: null,
    ends_on: '2026-12-01',
    reason: null,
    drained: null,
    priority: 1,
    weight: 3,
    stands_in: true,
    nodes: [],
    in_flight: 0,
    limit: null,
    limit_is_learnt: true,
    limits: [
      { name: 'requests', used: 0, of: 600 },
      { name: 'tokens', used: 0, of: 90_000 },
      { name: 'images', used: 0, of: 12 },
    ],
    rate: { requests: 0, tokens: 0, images: 0 },
    p50_ms: null,
    p95_ms: null,
    calls: 0,
    failed_share: 0,
    failures: {},
    space: { state: 'unguarded', least_cosine: null, last_good_at: null },
    price: [{ amount: '', unit: 'unpriced', note: null }],
    skipped_for: null,
    cells: '.'.repeat(CELLS),
  })
  const two = { ...ONE, id: 'm/two' }
  assert.deepEqual(deploymentBody(MODEL, two, view()).skipped_for, { keys: 2, reason: 'unpriced' })
})

test('a deployment has what the nodes report, with its rate as a share of the limits of a minute', () => {
  assert.partialDeepStrictEqual(standingBody(MODEL, ONE, view({ standing: {} })), {
    state: 'ejected',
    since: '2026-11-17T00:00:01.000Z',
    until: '2026-11-17T00:00:09.000Z',
    reason: 'connection refused',
    drained: null,
    nodes: [{ node: 'n1', state: 'ejected', in_flight: 3, limit: null }],
    in_flight: 3,
    limit: 8,
    limit_is_learnt: false,
    limits: [
      { name: 'requests', used: 120, of: 600 },
      { name: 'tokens', used: 6000, of: 90_000 },
      { name: 'images', used: 6, of: 12 },
    ],
    p50_ms: 20,
    p95_ms: 90,
    calls: 10,
    failed_share: 0.9,
    failures: { unreachable: 9 },
  })
})

test('a drain of the store counts before any node has heard of it', () => {
  const drained = { by: 'ann', reason: 'moving', at: '2026-11-17T00:00:05.000Z' }
  assert.partialDeepStrictEqual(standingBody(MODEL, ONE, view({ standing: {}, isDrained: true })), {
    state: 'drained',
    since: '2026-11-17T00:00:05.000Z',
    until: null,
    reason: 'moving',
    drained,
  })
})

test('the deployment that is asked first has no one before it, and no limits unless they are set', () => {
  const first = standingBody(MODEL, FIRST, view())
  assert.deepEqual([first.stands_in, first.limits, first.ends_on], [false, [], null])
  const equals = aModel({ id: 'm', deployments: [FIRST, { ...FIRST, id: 'm/second' }] })
  assert.equal(standingBody(equals, FIRST, view()).stands_in, false)
})

test('only an embedding model has a space, and the guard says how far a deployment is in it', () => {
  const space = { state: 'warned', lastGoodAtMs: 77, last: { leastCosine: 0.9 } } as Partial<SpaceStanding>
  const guarded = view({ name: 'shared@8:0123abcd', space })
  const embedding = standingBody(MODEL, ONE, guarded)
  assert.equal(embedding.space_id, 'shared@8:0123abcd')
  assert.deepEqual(embedding.space, {
    state: 'warned',
    least_cosine: 0.9,
    last_good_at: '1970-01-01T00:00:00.077Z',
  })
  const unprobed = view({ space: { state: 'trusted' } })
  assert.deepEqual(standingBody(MODEL, ONE, unprobed).space, {
    state: 'trusted',
    least_cosine: null,
    last_good_at: null,
  })
  const image = standingBody(PICTURES, ONE, guarded)
  assert.deepEqual([image.space_id, image.space, image.kind], [null, null, 'image'])
})

test('the last cell is of now, unless the half hour has seen worse; silence and drains leave it as it is', () => {
  const day = (last: string): string => '.'.repeat(CELLS - 1) + last
  for (const [state, calls, before, last] of [
    ['healthy', 1, '.', 'g'],
    ['healthy', 0, '.', '.'],
    ['healthy', 1, 'w', 'w'],
    ['limited', 0, 'g', 'w'],
    ['probing', 0, 'w', 'b'],
    ['ejected', 1, 'q', 'q'],
    ['quarantined', 0, 'b', 'q'],
    ['held-back', 1, 'g', 'g'],
  ] as const satisfies readonly (readonly [DeploymentStateName, number, string, string])[]) {
    const { cells } = deploymentBody(MODEL, ONE, view({ standing: { state, calls }, cells: day(before) }))
    assert.equal(cells, day(last), `${state} after ${before}`)
  }
  const drained = view({ standing: { state: 'ejected' }, isDrained: true, cells: day('g') })
  assert.equal(deploymentBody(MODEL, ONE, drained).cells, day('g'))
})
