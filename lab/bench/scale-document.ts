/** The measured part of docs/sizing.md. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Measured, ScalePlan } from './scale-model.ts'

const FILE = join(import.meta.dirname, '../../docs/sizing.md')
const BEGIN = '<!-- generated scale -->'
const END = '<!-- /generated -->'

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
  const [before = '', rest = ''] = readFileSync(FILE, 'utf8').split(BEGIN)
  const [, after = ''] = rest.split(END)
  const perSecond = (rate: number): string => Math.round(rate).toLocaleString('en-US')
  const [first] = measured
  const parts = [
    BEGIN,
    tableOf(
      ['CPU per request', 'Torana', 'PostgreSQL', 'Redis'],
      measured.map((one) => [
        one.name,
        ...[one.gatewayUs, one.postgresUs, one.redisUs].map((us) => `${perSecond(us)} µs`),
      ]),
    ),
    `A request with a ledger row writes ${perSecond(first?.walBytes ?? 0)} bytes of write-ahead log. Measured on ${new Date().toISOString().slice(0, 10)}.`,
    tableOf(
      ['requests per second', 'processes (cores)', 'PostgreSQL cores', 'cells'],
      plans.map((plan) => [plan.perSecond, plan.processes, plan.postgresCores, plan.cells].map(perSecond)),
    ),
    `For two processes the unit costs predict ${perSecond(predicted)} requests per second; we measured ${perSecond(predicted / (1 + wrong))}. The table allows for that.`,
    END,
  ]
  writeFileSync(FILE, `${before}${parts.join('\n\n')}${after}`)
}

function tableOf(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n')
}
