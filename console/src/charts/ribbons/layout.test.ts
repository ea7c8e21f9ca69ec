import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { between, ribbonLayout, ribbonPath, type RibbonGraph } from './layout.ts'

const flow = fc.record({
  key: fc.nat(7),
  model: fc.nat(7),
  deployment: fc.nat(1),
  value: fc.double({ min: 0, max: 1e6, noNaN: true }),
})

/** As traffic is: keys to models, each model to deployments of its own. */
const graphs = fc.array(flow, { maxLength: 60 }).map((flows): RibbonGraph => {
  const sums = new Map<string, { from: string; to: string; value: number }>()
  const add = (from: string, to: string, value: number): void => {
    const id = `${from} ${to}`
    sums.set(id, { from, to, value: (sums.get(id)?.value ?? 0) + value })
  }
  for (const { key, model, deployment, value } of flows) {
    add(`k${key}`, `m${model}`, value)
    add(`m${model}`, `d${model}/${deployment}`, value)
  }
  const ids = (begin: string): string[] =>
    [...new Set([...sums.values()].flatMap(({ from, to }) => [from, to]))]
      .filter((id) => id.startsWith(begin))
      .toSorted()
  return {
    columns: [
      ids('k').map((id) => ({ id })),
      ids('m').map((id) => ({ id })),
      ids('d').map((id) => ({ id, group: id.slice(0, 2) })),
    ],
    ribbons: Array.from(sums, ([id, sum]) => ({ id, ...sum })),
  }
})

test('nodes of a column never overlap, and stand within the picture', () => {
  fc.assert(
    fc.property(graphs, fc.integer({ min: 50, max: 900 }), (graph, height) => {
      const layout = ribbonLayout(graph, height)
      assert.ok(layout.height >= height)
      for (const column of graph.columns) {
        let end = -0.001
        for (const { id } of column) {
          const place = layout.nodes.get(id)
          assert.ok(place !== undefined && place.y >= end)
          end = place.y + place.height
        }
        assert.ok(end <= layout.height + 0.01)
      }
    }),
  )
})

test('ribbons lie side by side within their nodes, and are as wide as what they carry', () => {
  fc.assert(
    fc.property(graphs, (graph) => {
      const layout = ribbonLayout(graph, 450)
      for (const [end, top] of [
        ['from', 'fromY'],
        ['to', 'toY'],
      ] as const)
        for (const { id } of graph.columns.flat()) {
          const node = layout.nodes.get(id) ?? { y: 0, height: 0 }
          const own = graph.ribbons
            .filter((one) => one[end] === id)
            .map((one) => layout.ribbons.get(one.id) ?? { fromY: 0, toY: 0, width: 0 })
            .toSorted((left, right) => left[top] - right[top])
          let y = node.y - 0.01
          for (const place of own) {
            assert.ok(place[top] >= y - 0.01)
            y = place[top] + place.width
          }
          assert.ok(y <= node.y + node.height + 0.01)
        }
      const wide = graph.ribbons.filter(({ id }) => (layout.ribbons.get(id)?.width ?? 0) > 1.2001)
      const units = wide.map(({ id, value }) => (layout.ribbons.get(id)?.width ?? 0) / value)
      for (const unit of units) assert.ok(Math.abs(unit - (units[0] ?? 0)) < 1e-6 * unit)
    }),
  )
})

test('ribbons of a node do not cross each other there: they are stacked in the order of their other ends', () => {
  const layout = ribbonLayout(
    {
      columns: [[{ id: 'a' }], [{ id: 'x' }, { id: 'y' }], []],
      ribbons: [
        { id: 'ay', from: 'a', to: 'y', value: 5 },
        { id: 'ax', from: 'a', to: 'x', value: 1 },
      ],
    },
    300,
  )
  assert.ok((layout.ribbons.get('ax')?.fromY ?? 0) < (layout.ribbons.get('ay')?.fromY ?? 0))
})

test('no traffic: nodes have their least heights, and nothing is divided by nothing', () => {
  const layout = ribbonLayout({ columns: [[{ id: 'a' }], [{ id: 'x' }], []], ribbons: [] }, 300)
  assert.deepEqual(
    [...layout.nodes.values()],
    [
      { y: 143, height: 14 },
      { y: 138, height: 24 },
    ],
  )
})

test('a path is a band of one width that leaves and arrives level', () => {
  assert.equal(
    ribbonPath({ fromY: 10, toY: 50, width: 4 }, 0, 100),
    'M0 10C50 10 50 50 100 50V54C50 54 50 14 0 14Z',
  )
})

test('on the way, what was there moves, and what is new grows', () => {
  const one = ribbonLayout({ columns: [[{ id: 'a' }], [{ id: 'x' }], []], ribbons: [] }, 100)
  const two = ribbonLayout(
    {
      columns: [[{ id: 'a' }], [{ id: 'x' }], []],
      ribbons: [{ id: 'ax', from: 'a', to: 'x', value: 1 }],
    },
    100,
  )
  assert.equal(between(one, two, 0).nodes.get('a')?.height, 14)
  assert.equal(between(one, two, 0).ribbons.get('ax')?.width, 0)
  assert.deepEqual(between(one, two, 1), two)
})
