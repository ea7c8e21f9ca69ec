import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { MIN_STEADY_MINUTES, sizingParts } from './document.ts'
import { keptSizing, type SteadyFigures } from './figures.ts'
import {
  costOf,
  errorsOf,
  loadsOf,
  perSecondOfProcess,
  planFor,
  type Measured,
  type PlanCosts,
} from './model.ts'

/** A configuration that costs 100, 10 and 1 µs a request, and as much again for each millisecond of a process that it has alone. */
function configuration(processes: number, perSecond: number): Measured {
  const alone = 1 + (processes / perSecond) * 1000
  return {
    name: `${processes} processes`,
    processes,
    perSecond,
    gatewayUs: 100 * alone,
    postgresUs: 10 * alone,
    redisUs: alone,
    redisCommands: 1,
    redisBytes: 90,
    walBytes: 700,
    ledgerRows: 1,
  }
}

/** 0.25, 2 and 4 ms of a process for each request. Not in the order of their load. */
const MEASURED = [configuration(2, 1000), configuration(1, 4000), configuration(2, 500)]
const COSTS: PlanCosts = {
  measured: MEASURED,
  ledgerPerSecond: 20_000,
  walBytes: 700,
  ledgerBytes: 250,
  requestLogBytes: 500,
  rowReadUs: 4,
}

const AT: readonly (readonly [what: string, processes: number, perSecond: number, gatewayUs: number])[] = [
  ['what was measured', 2, 1000, 300],
  ['between two of them', 1, 1000, 200],
  ['between two others, with more processes', 6, 2000, 400],
  ['busier than all of them', 1, 8000, 125],
  ['calmer than all of them', 3, 10, 500],
]
for (const [what, processes, perSecond, gatewayUs] of AT)
  test(`the cost of a request, ${what}`, () => {
    assert.ok(Math.abs(costOf('gatewayUs', { processes, perSecond }, MEASURED) - gatewayUs) < 1e-9)
  })

test('nothing measured is refused', () => {
  assert.throws(() => costOf('gatewayUs', { processes: 1, perSecond: 1 }, []), /nothing was measured/)
})

test('a configuration that the model has not seen shows its error', () => {
  const third = configuration(3, 1000)
  assert.ok(Math.abs(errorsOf(MEASURED, third).gatewayUs) < 1e-9)
  assert.ok(Math.abs(errorsOf(MEASURED, { ...third, gatewayUs: third.gatewayUs * 2 }).gatewayUs + 0.5) < 1e-9)
})

test('a process is planned with half of the most that one served', () => {
  assert.equal(perSecondOfProcess(COSTS), 2000)
})

const PLANS: readonly (readonly [rate: number, cells: number, processes: number])[] = [
  [10, 1, 2],
  [10_000, 1, 6],
  [10_001, 2, 3],
  [100_000, 10, 6],
]
for (const [rate, cells, processes] of PLANS)
  test(`${rate} requests per second need ${cells} cells of ${processes} processes`, () => {
    const plan = planFor(rate, COSTS)
    assert.deepEqual([plan.cells, plan.cell.processes], [cells, processes])
  })

const COST = fc.double({ min: 1, max: 1000, noNaN: true })
const OF_COSTS = fc.record({
  gateway: COST,
  postgres: COST,
  redis: COST,
  wal: COST,
  ledger: fc.integer({ min: 100, max: 100_000 }),
})
const costsOf = ({
  gateway,
  postgres,
  redis,
  wal,
  ledger,
}: Record<'gateway' | 'postgres' | 'redis' | 'wal' | 'ledger', number>): PlanCosts => ({
  ...COSTS,
  measured: MEASURED.map((each) => ({
    ...each,
    gatewayUs: each.gatewayUs * gateway,
    postgresUs: each.postgresUs * postgres,
    redisUs: each.redisUs * redis,
  })),
  walBytes: wal,
  ledgerPerSecond: ledger,
})

test('no cell of a plan uses more of its PostgreSQL, its log or its one Redis than it may', () => {
  fc.assert(
    fc.property(OF_COSTS, fc.integer({ min: 1, max: 1_000_000 }), (given, rate) => {
      const costs = costsOf(given)
      const { cell, cells } = planFor(rate, costs)
      for (const [what, share] of Object.entries(loadsOf(cell, costs))) assert.ok(share <= 1, what)
      assert.ok(Math.abs(cell.perSecond * cells - rate) < 1e-6 * rate)
    }),
  )
})

test('more requests never need fewer cells', () => {
  fc.assert(
    fc.property(OF_COSTS, fc.integer({ min: 1, max: 500_000 }), fc.nat(500_000), (given, rate, more) => {
      const costs = costsOf(given)
      assert.ok(planFor(rate, costs).cells <= planFor(rate + more, costs).cells)
    }),
  )
})

const STEADY: SteadyFigures = {
  day: '2026-11-18',
  commit: 'abc1234',
  load: 'load average 2.0',
  perSecond: 2000.4,
  minutes: MIN_STEADY_MINUTES,
  requests: 7_200_000,
  processes: 2,
  cores: 2,
  p50Ms: 3,
  p99Ms: [9, 9.5],
  memoryMegabytesPerHour: 2,
}

/** Rows of the plan by their basis. */
function basesOf(steady: SteadyFigures | undefined): readonly (readonly [rate: number, basis: string])[] {
  const { 'sizing-plan': plan = '' } = sizingParts(
    { scale: keptSizing().scale, ...(steady && { steady }) },
    20_000,
  )
  return plan
    .split('\n')
    .slice(2)
    .filter((line) => line.startsWith('|'))
    .map((line) => line.split(' | '))
    .map((cells) => [Number(cells[0]?.replaceAll(/[^\d]/g, '')), cells.at(-1)?.replace(' |', '') ?? ''])
}

test('only what one cell held for an hour is no extrapolation', () => {
  assert.deepEqual(new Set(basesOf(undefined).map(([, basis]) => basis)), new Set(['extrapolation']))
  const tooShort = { ...STEADY, minutes: MIN_STEADY_MINUTES - 1 }
  assert.deepEqual(new Set(basesOf(tooShort).map(([, basis]) => basis)), new Set(['extrapolation']))
  for (const [rate, basis] of basesOf(STEADY))
    assert.equal(basis, rate <= 2000 ? 'held for an hour' : 'extrapolation', String(rate))
})
