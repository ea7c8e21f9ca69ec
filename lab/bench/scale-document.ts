/** The measured tables and the plot of docs/scale.md. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Measured, ScalePlan } from './scale-model.ts'

const DOCS = join(import.meta.dirname, '../../docs')
const BEGIN = '<!-- measured: npm run lab -- bench/scale --write -->'
const END = '<!-- /measured -->'

interface Check {
  readonly predicted: number
  /** 0.1: the model predicts ten per cent more than was measured. */
  readonly wrong: number
}

export function scaleDocument(
  measured: readonly Measured[],
  plans: readonly ScalePlan[],
  { predicted, wrong }: Check,
): void {
  const file = join(DOCS, 'scale.md')
  const text = readFileSync(file, 'utf8')
  const [before = '', rest = ''] = text.split(BEGIN)
  const [, after = ''] = rest.split(END)
  const share = `${Math.abs(wrong * 100).toFixed(0)} % ${wrong < 0 ? 'pessimistic' : 'optimistic'}`
  const perSecond = (rate: number): string => Math.round(rate).toLocaleString('en-US')
  const parts = [
    BEGIN,
    '### What one request costs',
    costTable(measured),
    '### What a rate needs',
    planTable(plans),
    '![Processes, cores of PostgreSQL and Redis servers by requests per second](pictures/scale.svg)',
    `Measured on ${new Date().toISOString().slice(0, 10)}. For two processes on the machine of the measurement the model predicts ${perSecond(predicted)} requests per second; we measured ${perSecond(predicted / (1 + wrong))}. Expect the model to be about ${share}.`,
    END,
  ]
  writeFileSync(file, `${before}${parts.join('\n\n')}${after}`)
  writeFileSync(join(DOCS, 'pictures/scale.svg'), plotOf(plans))
}

function costTable(measured: readonly Measured[]): string {
  const rows = measured.map((one) =>
    [
      one.name,
      one.gatewayUs.toFixed(0),
      one.postgresUs.toFixed(0),
      one.redisUs.toFixed(1),
      one.redisCommands.toFixed(2),
      one.redisBytes.toFixed(0),
      one.walBytes.toFixed(0),
      one.ledgerRows.toFixed(2),
    ].join(' | '),
  )
  return [
    '| case | gateway, CPU µs | PostgreSQL, CPU µs | Redis, CPU µs | Redis commands | Redis bytes | WAL bytes | ledger rows |',
    '| --- | --- | --- | --- | --- | --- | --- | --- |',
    ...rows.map((row) => `| ${row} |`),
  ].join('\n')
}

function planTable(plans: readonly ScalePlan[]): string {
  const rows = plans.map((plan) =>
    [
      plan.perSecond.toLocaleString('en-US'),
      plan.processes,
      plan.postgresCores,
      plan.walMegabytesPerSecond.toFixed(1),
      plan.redisShards,
      plan.cells,
    ].join(' | '),
  )
  return [
    '| requests per second | processes (cores) | cores of PostgreSQL | WAL, MB/s | Redis servers | cells |',
    '| --- | --- | --- | --- | --- | --- |',
    ...rows.map((row) => `| ${row} |`),
  ].join('\n')
}

const [WIDTH, HEIGHT, LEFT, BOTTOM, TOP, RIGHT] = [720, 360, 64, 44, 16, 150]

/** Both axes are logarithmic: a straight line is a cost that grows with the rate and no faster. */
function plotOf(plans: readonly ScalePlan[]): string {
  const lines = [
    { name: 'processes', colour: '#2f6fed', of: (plan: ScalePlan) => plan.processes },
    { name: 'cores of PostgreSQL', colour: '#c2410c', of: (plan: ScalePlan) => plan.postgresCores },
    { name: 'Redis servers', colour: '#15803d', of: (plan: ScalePlan) => plan.redisShards },
    { name: 'cells', colour: '#7c3aed', of: (plan: ScalePlan) => plan.cells },
  ]
  const most = Math.max(...plans.flatMap((plan) => lines.map(({ of }) => of(plan))))
  const decades = Math.ceil(Math.log10(most))
  const [firstRate = 1, lastRate = 1] = [plans[0]?.perSecond, plans.at(-1)?.perSecond]
  const span = Math.log10(lastRate / firstRate)
  const x = (rate: number): number => LEFT + (Math.log10(rate / firstRate) / span) * (WIDTH - LEFT - RIGHT)
  const y = (count: number): number =>
    HEIGHT - BOTTOM - (Math.log10(Math.max(1, count)) / decades) * (HEIGHT - BOTTOM - TOP)
  const grid = Array.from({ length: decades + 1 }, (_, power) => {
    const at = y(10 ** power).toFixed(1)
    return `<path d="M${LEFT} ${at}H${WIDTH - RIGHT}" stroke="#8884"/><text x="${LEFT - 8}" y="${at}" dy="4" text-anchor="end">${(10 ** power).toLocaleString('en-US')}</text>`
  })
  const ticks = Array.from({ length: Math.round(span) + 1 }, (_, power) => {
    const rate = firstRate * 10 ** power
    return `<text x="${x(rate).toFixed(1)}" y="${HEIGHT - BOTTOM + 20}" text-anchor="middle">${rate.toLocaleString('en-US')}</text>`
  })
  const drawn = lines.map(({ name, colour, of }) => {
    const points = plans.map((plan) => `${x(plan.perSecond).toFixed(1)},${y(of(plan)).toFixed(1)}`)
    const end = y(of(plans.at(-1) as ScalePlan)).toFixed(1)
    return `<polyline points="${points.join(' ')}" fill="none" stroke="${colour}" stroke-width="2"/><text x="${WIDTH - RIGHT + 8}" y="${end}" dy="4" fill="${colour}">${name}</text>`
  })
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" font-family="system-ui, sans-serif" font-size="12" fill="#667">
${[...grid, ...ticks, ...drawn].join('\n')}
<text x="${(LEFT + WIDTH - RIGHT) / 2}" y="${HEIGHT - 6}" text-anchor="middle">requests per second</text>
</svg>
`
}
