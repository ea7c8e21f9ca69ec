import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { mostPerSecond, planFor, type UnitCosts } from './scale-model.ts'

const costs: UnitCosts = {
  gatewayUs: 300,
  postgresUs: 100,
  redisUs: 20,
  redisCommands: 2,
  walBytes: 600,
}

test('a plan is the arithmetic of its unit costs', () => {
  assert.deepEqual(planFor(100_000, costs), {
    perSecond: 100_000,
    processes: 78,
    redisShards: 6,
    postgresCores: 26,
    walMegabytesPerSecond: 60,
    cells: 5,
  })
})

test('a cell takes no more records than one PostgreSQL has been seen to take', () => {
  const cellsOf = (perSecond: number): number => planFor(perSecond, costs).cells
  assert.deepEqual([20_000, 20_001, 40_000].map(cellsOf), [1, 2, 2])
})

test('a small install has two processes, one cell and one Redis', () => {
  const { processes, cells, redisShards } = planFor(10, costs)
  assert.deepEqual([processes, cells, redisShards], [2, 1, 1])
})

test('more requests never need less', () => {
  const cost = fc.double({ min: 1, max: 10_000, noNaN: true })
  const all = fc.record({
    gatewayUs: cost,
    postgresUs: cost,
    redisUs: cost,
    redisCommands: cost,
    walBytes: cost,
  })
  fc.assert(
    fc.property(all, fc.nat(1_000_000), fc.nat(1_000_000), (costs, first, more) => {
      const [small, large] = [planFor(first, costs), planFor(first + more, costs)]
      for (const field of ['processes', 'redisShards', 'postgresCores', 'cells'] as const)
        assert.ok(small[field] <= large[field], field)
    }),
  )
})

test('the processes or the cores are busy, whichever comes first', () => {
  assert.equal(mostPerSecond(1, 2, { gatewayUs: 250, wholeUs: 400 }), 4000)
  assert.equal(mostPerSecond(2, 2, { gatewayUs: 250, wholeUs: 400 }), 5000)
})
