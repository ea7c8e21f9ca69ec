/** What a `TrafficHistory` promises. Nodes that keep nothing have none. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import {
  COARSE_SLOT_MS,
  DEPLOYMENT_SLOT_MS,
  FINE_SLOT_MS,
  type DeploymentSlot,
  type ProjectSlot,
} from '#ports/traffic-history.ts'
import { LatencyCounts } from '#core/traffic/latency-counts.ts'
import { openPostgres, type Database } from '#stores/postgres/database.ts'
import { migrate } from '#stores/postgres/migrate.ts'
import { PostgresTrafficHistory } from '#stores/postgres/traffic-history.ts'
import { testPostgres } from '#test/support/servers.ts'

const NODES = ['01920000-0000-7000-8000-000000000001', '01920000-0000-7000-8000-000000000002'] as const
const NOW_MS = Date.UTC(2026, 10, 15, 16, 31)
const START_MS = Date.UTC(2026, 10, 15, 12)
/** From a moment to the end of everything these tests write. */
const since = (fromMs: number) => ({ fromMs, toMs: NOW_MS })

function countsOf(...durationsMs: number[]): ReturnType<LatencyCounts['sparse']> {
  const counts = new LatencyCounts()
  for (const one of durationsMs) counts.add(one)
  return counts.sparse()
}

function aSlot(given: Partial<DeploymentSlot>): DeploymentSlot {
  return {
    deployment: 'BAAI/bge-m3/gpu-two',
    atMs: START_MS,
    worst: 'healthy',
    calls: 10,
    failed: 1,
    latency: countsOf(10, 20, 30),
    inFlight: 4,
    limit: 8.5,
    ...given,
  }
}

function aProject(given: Partial<ProjectSlot>): ProjectSlot {
  return {
    slotMs: FINE_SLOT_MS,
    atMs: START_MS,
    project: 'search',
    outcomes: { answered: 10, refused: 1, limited: 2, failed: 3, unknown: 4 },
    inputs: 100,
    hits: 40,
    nanoUsd: 9_007_199_254_740_993n,
    latency: countsOf(100, 100, 1000),
    own: countsOf(1),
    ...given,
  }
}

const NOTHING = { deployments: [], events: [], projects: [] }

function suite(name: string, open: () => Promise<PostgresTrafficHistory>): void {
  test(`${name}: a slot that is written again replaces itself, and nodes add up`, async () => {
    const history = await open()
    const write = (index: 0 | 1, ...deployments: DeploymentSlot[]): Promise<void> =>
      history.write(NODES[index], { ...NOTHING, deployments })
    await write(0, aSlot({ calls: 5 }))
    await write(
      0,
      aSlot({}),
      aSlot({ atMs: START_MS + DEPLOYMENT_SLOT_MS, worst: 'ejected', limit: undefined }),
    )
    await write(1, aSlot({ worst: 'limited', calls: 3, failed: 0, latency: countsOf(40), inFlight: 6 }))
    await write(1, aSlot({ deployment: 'other', worst: 'quarantined', atMs: START_MS - 7_200_000 }))
    const slots = await history.deploymentSlots('BAAI/bge-m3/gpu-two', since(START_MS), DEPLOYMENT_SLOT_MS)
    assert.deepEqual(slots, [
      aSlot({ worst: 'limited', calls: 13, latency: countsOf(10, 20, 30, 40), inFlight: 6 }),
      aSlot({ atMs: START_MS + DEPLOYMENT_SLOT_MS, worst: 'ejected', limit: undefined }),
    ])
    const [joined] = await history.deploymentSlots('BAAI/bge-m3/gpu-two', since(START_MS), 1_800_000)
    assert.deepEqual([joined?.calls, joined?.failed, joined?.worst], [23, 2, 'ejected'])
    const first = { fromMs: START_MS, toMs: START_MS + DEPLOYMENT_SLOT_MS }
    const [ended, ...later] = await history.deploymentSlots('BAAI/bge-m3/gpu-two', first, 1_800_000)
    assert.deepEqual([ended?.calls, ended?.worst, later], [13, 'limited', []], 'the end is not in the span')
    assert.deepEqual(await history.worstStates(START_MS - 7_200_000, 1_800_000), [
      { deployment: 'BAAI/bge-m3/gpu-two', atMs: START_MS, worst: 'ejected' },
      { deployment: 'other', atMs: START_MS - 7_200_000, worst: 'quarantined' },
    ])
  })

  test(`${name}: events are listed once, newest first, and only of the deployment that was asked for`, async () => {
    const history = await open()
    const event = {
      deployment: 'a',
      atMs: START_MS,
      state: 'ejected',
      reason: 'connection refused "x"',
    } as const
    const back = { ...event, atMs: START_MS + 1500, state: 'healthy', reason: '' } as const
    await history.write(NODES[0], { ...NOTHING, events: [event, { ...event, deployment: 'b' }] })
    await history.write(NODES[0], { ...NOTHING, events: [event, back] })
    assert.deepEqual(await history.events('a', since(START_MS), 10), [back, event])
    assert.deepEqual(await history.events('a', since(START_MS + 1), 10), [back])
    assert.deepEqual(await history.events('a', since(0), 1), [back])
    assert.deepEqual(await history.events('a', { fromMs: 0, toMs: START_MS + 1500 }, 10), [event])
  })

  test(`${name}: traffic is summed over nodes and the projects that may be seen, exactly, with its quantiles`, async () => {
    const history = await open()
    await history.write(NODES[0], {
      ...NOTHING,
      projects: [aProject({}), aProject({ project: 'ads', hits: 1 })],
    })
    await history.write(NODES[1], {
      ...NOTHING,
      projects: [aProject({}), aProject({ atMs: START_MS + 60_000 })],
    })
    await history.write(NODES[0], {
      ...NOTHING,
      projects: [aProject({ slotMs: COARSE_SLOT_MS, outcomes: { ...aProject({}).outcomes, answered: 500 } })],
    })
    const span = since(START_MS)
    const [first, second, ...rest] = await history.traffic(span, FINE_SLOT_MS, ['search'])
    assert.deepEqual(rest, [])
    assert.deepEqual(first?.outcomes, { answered: 20, refused: 2, limited: 4, failed: 6, unknown: 8 })
    assert.deepEqual([first?.inputs, first?.hits, first?.nanoUsd], [200, 80, 18_014_398_509_481_986n])
    assert.ok(
      first?.p50Ms && Math.abs(first.p50Ms - 100) < 6 && first.p99Ms && Math.abs(first.p99Ms - 1000) < 60,
    )
    assert.ok(first.ownP95Ms && Math.abs(first.ownP95Ms - 1) < 0.1)
    assert.equal(second?.atMs, START_MS + 60_000)
    assert.equal((await history.traffic(span, FINE_SLOT_MS, undefined))[0]?.hits, 81)
    assert.deepEqual(await history.traffic(span, FINE_SLOT_MS, []), [])
    const ended = await history.traffic({ fromMs: START_MS, toMs: START_MS + 60_000 }, FINE_SLOT_MS, [
      'search',
    ])
    assert.deepEqual(ended, [first], 'the end is not in the span')
    const coarse = await history.traffic(span, COARSE_SLOT_MS, undefined)
    assert.deepEqual(
      coarse.map(({ outcomes }) => outcomes.answered),
      [500],
    )
  })

  test(`${name}: what has been kept for its time goes, and nothing else`, async () => {
    const history = await open()
    const day = 86_400_000
    await history.write(NODES[0], {
      deployments: [aSlot({ deployment: 'd', atMs: NOW_MS - 15 * day }), aSlot({ deployment: 'd' })],
      events: [{ deployment: 'd', atMs: NOW_MS - 15 * day, state: 'ejected', reason: '' }],
      projects: [
        aProject({ project: 'd', atMs: NOW_MS - 2 * day }),
        aProject({ project: 'd', atMs: NOW_MS - 2 * day, slotMs: COARSE_SLOT_MS }),
      ],
    })
    await history.dropOld()
    assert.equal((await history.deploymentSlots('d', since(0), DEPLOYMENT_SLOT_MS)).length, 1)
    assert.deepEqual(await history.events('d', since(0), 10), [])
    assert.deepEqual(await history.traffic(since(0), FINE_SLOT_MS, ['d']), [])
    assert.equal((await history.traffic(since(0), COARSE_SLOT_MS, ['d'])).length, 1)
  })
}

function inDatabase(openDatabase: () => Promise<Database>): () => Promise<PostgresTrafficHistory> {
  let opened: Promise<Database> | undefined
  after(async () => (await opened)?.close())
  return async () => {
    opened ??= openDatabase().then(async (database) => {
      await migrate(database)
      return database
    })
    const database = await opened
    await database.query('TRUNCATE deployment_slots, deployment_events, traffic_slots')
    return new PostgresTrafficHistory(database, { nowMs: () => NOW_MS, monotonicMs: () => 0 })
  }
}

suite(
  'PostgreSQL',
  inDatabase(async () => openPostgres((await testPostgres()).url)),
)
