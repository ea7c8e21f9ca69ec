/** The generated parts of docs/sizing.md, by name, from the kept figures and one model alone: two parts cannot contradict each other. */
import { tableOf } from '../../book/fill.ts'
import type { SizingFigures, SteadyFigures } from './figures.ts'
import {
  errorsOf,
  EXPORT_US_OF_ROW,
  perSecondOfProcess,
  planFor,
  READS_OF_ROW,
  REQUEST_LOG_DAYS,
  type Measured,
  type PlanCosts,
  type ScalePlan,
} from './model.ts'

/** Requests per second of the plan, beside the one that was held. */
const RATES = [1000, 2000, 5000, 10_000, 100_000, 1_000_000]
/** Minutes that a rate must have been held before a page calls it held. */
export const MIN_STEADY_MINUTES = 60
/** To which requests per second of one process are rounded down. */
const ROUND_RATE = 100

function planCosts({ scale }: SizingFigures, ledgerPerSecond: number): PlanCosts {
  const { model, ledgerBytes, requestLogBytes, rowReadUs } = scale
  const [, calm] = model as [Measured, Measured]
  return {
    measured: model,
    ledgerPerSecond,
    walBytes: calm.walBytes,
    ledgerBytes,
    requestLogBytes,
    rowReadUs,
  }
}

/** `ledgerPerSecond`: what one PostgreSQL took in `bench/ledger`. */
export function sizingParts(
  figures: SizingFigures,
  ledgerPerSecond: number,
): Readonly<Record<string, string>> {
  const { scale, steady } = figures
  const costs = planCosts(figures, ledgerPerSecond)
  const held = heldRate(steady)
  const rates = [...new Set([...RATES, ...(held === undefined ? [] : [held])])].toSorted((a, b) => a - b)
  const plans = rates.map((rate) => planFor(rate, costs))
  const perProcess = Math.floor(perSecondOfProcess(costs) / ROUND_RATE) * ROUND_RATE
  return {
    'sizing-rule': `Plan one core of Torana per ${count(perProcess)} embedding requests per second, plus a second machine for failures.`,
    'sizing-plan': [planTable(plans, held), heldText(steady)].join('\n\n'),
    'sizing-costs': [
      costTable([...scale.model, scale.check, ...scale.others]),
      checkText(figures, costs),
    ].join('\n\n'),
    'sizing-disk': diskText(costs),
  }
}

function heldRate(steady: SteadyFigures | undefined): number | undefined {
  return steady === undefined || steady.minutes < MIN_STEADY_MINUTES
    ? undefined
    : Math.floor(steady.perSecond)
}

function planTable(plans: readonly ScalePlan[], held: number | undefined): string {
  return tableOf(
    [
      'requests per second',
      'cells',
      'Torana processes',
      'PostgreSQL cores',
      'Redis',
      'WAL',
      'ledger',
      'basis',
    ],
    plans.map(({ perSecond, cells, cell }) => [
      count(perSecond),
      count(cells),
      count(cell.processes),
      count(Math.ceil(cell.postgresCores)),
      `${Math.max(1, Math.round(cell.redisCore * 100))} % of one core`,
      `${decimal(cell.walMegabytesPerSecond)} MB/s`,
      `${count(Math.max(1, Math.round(cell.ledgerGigabytesPerDay)))} GB per day`,
      held !== undefined && perSecond <= held ? 'held for an hour' : 'extrapolation',
    ]),
  )
}

function heldText(steady: SteadyFigures | undefined): string {
  const held = heldRate(steady)
  if (held === undefined || steady === undefined)
    return 'All columns after *cells* are for one cell. Every row is extrapolation: this version has not been held at a rate for an hour.'
  const { cores, minutes, requests, processes, p99Ms, memoryMegabytesPerHour, day, commit } = steady
  return [
    'All columns after *cells* are for one cell.',
    `One cell on ${cores} shared cores, load generator and upstream included, held ${count(held)} requests per second with ${processes} ${processes === 1 ? 'process' : 'processes'} for ${count(minutes)} minutes, while it sealed and exported a day of as many entries: ${count(requests)} requests, each once in the ledger; 99th percentile ${decimal(p99Ms[0] ?? Number.NaN)} ms in the first tenth and ${decimal(p99Ms.at(-1) ?? Number.NaN)} ms in the last; memory ${memoryMegabytesPerHour < 0 ? '' : '+'}${count(memoryMegabytesPerHour)} MB per hour (${day}, ${commit}).`,
    'Every rate above it is extrapolation.',
  ].join(' ')
}

function costTable(cases: readonly Measured[]): string {
  return tableOf(
    ['CPU per request', 'requests per second', 'Torana', 'PostgreSQL', 'Redis'],
    cases.map(({ name, perSecond, gatewayUs, postgresUs, redisUs }) => [
      name,
      count(perSecond),
      ...[gatewayUs, postgresUs, redisUs].map((us) => `${count(us)} µs`),
    ]),
  )
}

function checkText({ scale }: SizingFigures, { measured, walBytes }: PlanCosts): string {
  const errors = errorsOf(measured, scale.check)
  return [
    `A plan reads the cost of a request between the rows of one and two processes, by the requests per second of each process. For ${scale.check.name} they are off by ${errorText(errors.gatewayUs)} (Torana), ${errorText(errors.postgresUs)} (PostgreSQL) and ${errorText(errors.redisUs)} (Redis).`,
    `A request writes ${count(walBytes)} bytes of write-ahead log. Load generator, upstream and stores shared the cores. Measured on ${scale.day} at ${scale.commit}, ${scale.load}.`,
  ].join(' ')
}

/** With its sign, unless it rounds to nothing. */
export function errorText(error: number): string {
  const percent = Math.abs(error * 100).toFixed(0)
  return percent === '0' ? 'less than 1 %' : `${error < 0 ? '−' : '+'}${percent} %`
}

function diskText({ ledgerBytes, requestLogBytes, walBytes, rowReadUs }: PlanCosts): string {
  const perDay = (bytes: number): string => `${decimal((bytes * 1_000_000) / 1e9)} GB`
  const table = tableOf(
    ['part', 'per call', 'per day at 1 million calls'],
    [
      ['ledger', `${count(ledgerBytes)} bytes`, perDay(ledgerBytes)],
      ['request log', `${count(requestLogBytes)} bytes`, perDay(requestLogBytes)],
      ['write-ahead log, for standby and archive', `${count(walBytes)} bytes`, perDay(walBytes)],
    ],
  )
  return `${table}\n\nThe request log is kept for ${REQUEST_LOG_DAYS} days. Each ledger row is read ${READS_OF_ROW} more times, to compare, seal and export its hour, for ${decimal(rowReadUs)} µs of CPU each; its export takes ${EXPORT_US_OF_ROW} µs of one node. The plan includes both.`
}

function count(value: number): string {
  return Math.round(value).toLocaleString('en-US')
}

function decimal(value: number): string {
  return value < 10 ? value.toFixed(1) : count(value)
}
