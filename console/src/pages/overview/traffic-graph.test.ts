import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { SteadyOrder, trafficGraph, type Brief } from './traffic-graph.ts'
import type { Flow } from '../../api/queries/overview.ts'

const flow = (given: Partial<Flow>): Flow => ({
  key: 'search/indexer',
  model: 'small',
  deployment: 'small/openai',
  requests: 1,
  failed: 0,
  tokens: 100,
  images: 0,
  usd: '0.000001000',
  p95_ms: 20,
  ...given,
})
const brief = (id: string, given: Partial<Brief> = {}): Brief => ({
  id,
  model: id.split('/')[0] ?? '',
  kind: 'embedding',
  upstream: id.split('/')[1] ?? '',
  state: 'healthy',
  until: null,
  since: '2026-11-16T00:00:00Z',
  ends_on: null,
  ...given,
})

const flows = fc.array(
  fc
    .record({
      key: fc.nat(12),
      model: fc.nat(11),
      end: fc.option(fc.nat(2)),
      requests: fc.nat(50),
      failed: fc.nat(9),
    })
    .map(({ key, model, end, requests, failed }) =>
      flow({
        key: `p/${key}`,
        model: `m${model}`,
        deployment: end === null ? null : `m${model}/u${end}`,
        requests,
        failed: Math.min(failed, requests),
      }),
    ),
  { maxLength: 80 },
)

test('whatever flows, all of it is in the picture: each side carries the sum', () => {
  fc.assert(
    fc.property(flows, (given) => {
      const { columns, ribbons } = trafficGraph(given, [], 'requests')
      const total = given.reduce((sum, { requests }) => sum + requests, 0)
      const ids = new Set(columns.flat().map(({ id }) => id))
      for (const side of ['key:', 'model:']) {
        const own = ribbons.filter(({ from }) => from.startsWith(side))
        assert.equal(
          own.reduce((sum, { value }) => sum + value, 0),
          total,
        )
      }
      for (const { from, to } of ribbons) assert.ok(ids.has(from) && ids.has(to), `${from} → ${to}`)
      for (const column of columns)
        assert.equal(
          column.reduce((sum, { value }) => sum + value, 0),
          total,
        )
      assert.ok(columns.every((column, index) => column.length <= [9, 9, 17][index]!))
    }),
  )
})

test('what failed is a ribbon of its own, and what the cache answered ends there', () => {
  const { columns, ribbons } = trafficGraph(
    [flow({ requests: 10, failed: 4 }), flow({ deployment: null, requests: 5 })],
    [brief('small/openai')],
    'requests',
  )
  assert.deepEqual(
    ribbons.map(({ from, to, value, look }) => [from, to, value, look]),
    [
      ['key:search/indexer', 'model:small', 15, 'embedding'],
      ['model:small', 'deployment:small/openai', 6, 'embedding'],
      ['model:small', 'deployment:small/openai', 4, 'failed'],
      ['model:small', 'deployment:small/', 5, 'cache'],
    ],
  )
  assert.deepEqual(
    columns[2]?.map(({ look }) => look),
    ['embedding', 'cache'],
  )
})

test('a deployment without calls keeps its place, and so does a model with one that is not well', () => {
  const { columns } = trafficGraph(
    [flow({})],
    [
      brief('small/openai'),
      brief('small/azure'),
      brief('large/azure', { state: 'quarantined' }),
      brief('quiet/x'),
    ],
    'requests',
  )
  assert.deepEqual(
    columns[1]?.map(({ subject }) => subject),
    ['small', 'large'],
  )
  assert.deepEqual(
    columns[2]?.map(({ subject }) => subject),
    ['small/openai', 'small/azure', 'large/azure'],
  )
})

test('dollars are told by the hour, and tokens have no failed part', () => {
  const [first] = trafficGraph([flow({ failed: 1 })], [], 'usd').ribbons
  assert.equal(first?.value.toFixed(4), '0.0036')
  assert.deepEqual(
    trafficGraph([flow({ failed: 1 })], [], 'tokens').ribbons.map(({ look }) => look),
    ['embedding', 'embedding'],
  )
})

test('names keep their places until another order has held for ten seconds; new ones come in where they belong', () => {
  const steady = new SteadyOrder()
  assert.deepEqual(steady.of('key', ['a', 'b'], 0), ['a', 'b'])
  assert.deepEqual(steady.of('key', ['b', 'a'], 1000), ['a', 'b'])
  assert.deepEqual(steady.of('key', ['a', 'b'], 2000), ['a', 'b'])
  assert.deepEqual(steady.of('key', ['b', 'a'], 3000), ['a', 'b'])
  assert.deepEqual(steady.of('key', ['b', 'a', 'c'], 12_000), ['a', 'b', 'c'])
  assert.deepEqual(steady.of('key', ['b', 'a', 'c'], 13_000), ['b', 'a', 'c'])
  assert.deepEqual(steady.of('key', ['a'], 14_000), ['a'])
})
