import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { MIN_STEADY_MINUTES, sizingParts } from './document.ts'
import { keptSizing, type SteadyFigures } from './figures.ts'
import {
  errorsOf,
  fitted,
  loadsOf,
  perSecondOfProcess,
  planFor,
  type FittedCosts,
  type Measured,
  type PlanCosts,
} from './model.ts'

const WORK: FittedCosts = {
  gatewayUs: { perRequestUs: 200, perProcessUs: 200_000 },
  postgresUs: { perRequestUs: 60, perProcessUs: 20_000 },
  redisUs: { perRequestUs: 10, perProcessUs: 5000 },
}
const COSTS: PlanCosts = {
  work: WORK,
  ledgerPerSecond: 20_000,
  walBytes: 700,
  ledgerBytes: 250,
  requestLogBytes: 500,
  rowReadUs: 4,
}

/** A configuration that costs what the model says. */
function configuration(processes: number, perSecond: number): Measured {
  const us = (part: keyof FittedCosts): number =>
    WORK[part].perRequestUs + (WORK[part].perProcessUs * processes) / perSecond
  return {
    name: `${processes} processes`,
    processes,
    perSecond,
    gatewayUs: us('gatewayUs'),
    postgresUs: us('postgresUs'),
    redisUs: us('redisUs'),
    redisCommands: 1,
    redisBytes: 90,
    walBytes: 700,
    ledgerRows: 1,
  }
}

test('two configurations give both costs, and a third one shows the error', () => {
  const work = fitted(configuration(1, 2000), configuration(2, 2000))
  assert.deepEqual([work.gatewayUs.perRequestUs, work.gatewayUs.perProcessUs].map(Math.round), [200, 200_000])
  const third = configuration(3, 3000)
  assert.ok(Math.abs(errorsOf(work, third).gatewayUs) < 1e-9)
  assert.ok(Math.abs(errorsOf(work, { ...third, gatewayUs: third.gatewayUs * 2 }).gatewayUs + 0.5) < 1e-9)
})

test('a process that seems to cost less than nothing costs nothing, and noise without a request is refused', () => {
  const [one, two] = [configuration(1, 2000), configuration(2, 2000)]
  const { gatewayUs } = fitted(one, { ...two, gatewayUs: one.gatewayUs - 100 })
  assert.deepEqual(gatewayUs, { perRequestUs: one.gatewayUs - 50, perProcessUs: 0 })
  assert.throws(() => fitted(one, { ...two, gatewayUs: one.gatewayUs * 3 }), /noise/)
})

test('a process is planned with half of what it serves when its core is busy', () => {
  assert.equal(perSecondOfProcess(WORK), 2000)
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
  work: {
    gatewayUs: { perRequestUs: gateway, perProcessUs: gateway * 100 },
    postgresUs: { perRequestUs: postgres, perProcessUs: postgres * 100 },
    redisUs: { perRequestUs: redis, perProcessUs: redis * 100 },
  },
  ledgerPerSecond: ledger,
  walBytes: wal,
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
