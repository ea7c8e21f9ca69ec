/** The routes that show a span of time: traffic of the overview, and the history of a deployment. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { registerDeployments } from '#control/deployments/routes.ts'
import { registerOverview } from '#control/overview/routes.ts'
import type { ControlNode } from '#control/shared/node.ts'
import { COARSE_SLOT_MS, FINE_SLOT_MS, type ProjectSlot } from '#ports/traffic-history.ts'
import { PostgresTrafficHistory } from '#stores/postgres/traffic-history.ts'
import { postgresStores } from '#test/support/ledger-stores.ts'
import { catalogOf } from '#test/support/config.ts'
import { startScope, TESTER } from '#test/support/control-scope.ts'
import { absent } from '#test/support/stores/absent.ts'

const NOW_MS = Date.UTC(2026, 10, 17, 16, 30)
const DAY_MS = 86_400_000
const MIDNIGHT_MS = Date.UTC(2026, 10, 17)
const NONE = { classes: [], counts: [] }
const DEPLOYMENT = 'BAAI/bge-m3/tei'

const open = postgresStores()

const slot = (given: Pick<ProjectSlot, 'slotMs' | 'atMs'>, answered: number): ProjectSlot => ({
  ...given,
  project: 'open',
  outcomes: { answered, refused: 0, limited: 0, failed: 0, unknown: 0 },
  inputs: 0,
  hits: 0,
  nanoUsd: 0n,
  latency: NONE,
  own: NONE,
})

/** Ten requests a day for a week at 12:00, and one in the last minute; one call and one event of the deployment a day. */
async function world() {
  const { database, clock, nodeId } = await open()
  clock.ms = NOW_MS
  const history = new PostgresTrafficHistory(database, clock)
  const noons = Array.from({ length: 7 }, (_, days) => MIDNIGHT_MS + DAY_MS / 2 - days * DAY_MS)
  await history.write(nodeId, {
    projects: [
      ...noons.map((atMs) => slot({ slotMs: COARSE_SLOT_MS, atMs }, 10)),
      slot({ slotMs: FINE_SLOT_MS, atMs: NOW_MS - FINE_SLOT_MS }, 1),
    ],
    deployments: noons.map((atMs) => ({
      deployment: DEPLOYMENT,
      atMs,
      worst: 'healthy',
      calls: 1,
      failed: 0,
      latency: NONE,
      inFlight: 1,
      limit: undefined,
    })),
    events: noons.map((atMs) => ({ deployment: DEPLOYMENT, atMs, state: 'ejected', reason: 'refused' })),
  })
  const catalog = catalogOf(`
upstreams: { tei: { provider: tei, baseUrl: 'http://tei.test/v1' } }
models: { BAAI/bge-m3: { deployments: [{ upstream: tei }] } }
`)
  const node = absent<ControlNode>('node', {
    clock,
    history,
    startedAtMs: 0,
    reports: database,
    catalog: () => catalog,
    isDrained: () => false,
    summaries: async () => [],
    liveNodes: () => 1,
  })
  return startScope(
    (api) => {
      registerDeployments(api, node)
      registerOverview(api, { node, attention: async () => [], budgets: async () => new Map() })
    },
    () => TESTER,
  )
}

interface Series {
  readonly series: {
    readonly slot_seconds: number
    readonly data: { readonly at: string; readonly answered: number }[]
  }
}
interface History {
  readonly data: { readonly at: string; readonly requests: number }[]
  readonly events: { readonly at: string }[]
}

const path = `/deployments/${encodeURIComponent(DEPLOYMENT)}/history`
const query = (since: number, until: number): string =>
  `?since=${new Date(since).toISOString()}&until=${new Date(until).toISOString()}`

test('traffic and history end where `until` says, and the end is not in them', async () => {
  const ask = await world()
  const [from, to] = [MIDNIGHT_MS - 5 * DAY_MS, MIDNIGHT_MS - 2 * DAY_MS]
  const { series } = (await ask<Series>('GET', `/overview${query(from, to)}`)).body
  assert.equal(series.data[0]?.at, new Date(from).toISOString())
  assert.ok(Date.parse(series.data.at(-1)?.at ?? '') + series.slot_seconds * 1000 <= to)
  assert.equal(
    series.data.reduce((sum, { answered }) => sum + answered, 0),
    30,
  )
  const noon = MIDNIGHT_MS - 2 * DAY_MS - DAY_MS / 2
  for (const [until, days] of [
    [to, 3],
    [noon, 2],
    [noon + 1, 3],
  ] as const) {
    const { data, events } = (await ask<History>('GET', `${path}${query(from, until)}`)).body
    assert.deepEqual([data.length, events.length], [days, days], new Date(until).toISOString())
  }
})

test('an hour of days ago is shown in half hours: minutes are kept for a day', async () => {
  const ask = await world()
  const noon = MIDNIGHT_MS - 3 * DAY_MS + DAY_MS / 2
  const { series } = (await ask<Series>('GET', `/overview${query(noon, noon + 3_600_000)}`)).body
  assert.deepEqual([series.slot_seconds, series.data.map(({ answered }) => answered)], [1800, [10, 0]])
})

test('without `until`, and with one to come, a span ends now', async () => {
  const ask = await world()
  for (const until of [
    '',
    `?until=${new Date(NOW_MS + DAY_MS).toISOString()}&since=${new Date(NOW_MS - 3_600_000).toISOString()}`,
  ]) {
    const { series } = (await ask<Series>('GET', `/overview${until}`)).body
    assert.equal(series.data.at(-1)?.at, new Date(NOW_MS - FINE_SLOT_MS).toISOString())
    assert.equal(series.data.at(-1)?.answered, 1)
  }
})

test('a span that ends before it begins is refused, and the refusal names the field', async () => {
  const ask = await world()
  for (const route of ['/overview', path]) {
    const { status, body } = await ask<{ error: { param: string } }>(
      'GET',
      `${route}${query(NOW_MS, NOW_MS)}`,
    )
    assert.deepEqual([status, body.error.param], [400, 'since'], route)
  }
})
