/** Keeps the figures of a run: all of it in `figures.json`, and each by id in docs/figures.json. */
import { readFileSync, writeFileSync } from 'node:fs'
import { cpus, release, totalmem } from 'node:os'
import { join } from 'node:path'
import type { Figures } from '../../book/fill.ts'
import { publishFigures } from '../../book/publish.ts'
import { countsOf } from './answers.ts'
import {
  addedText,
  countText,
  mergedFigures,
  timesBare,
  timesText,
  type ContenderFigures,
  type PeerFigures,
  type Run,
} from './figures.ts'

type Figure = Figures[string]

const FIGURES = join(import.meta.dirname, 'figures.json')
const GIGABYTE = 2 ** 30

export function machineText(): string {
  const [first] = cpus()
  return `${cpus().length} cores of ${first?.model.replace(/ Processor$/, '').trim() ?? 'an unknown CPU'}, ${Math.round(totalmem() / GIGABYTE)} GB, Linux ${release()}, Node.js ${process.version}`
}

export function keptFigures(): PeerFigures {
  return JSON.parse(readFileSync(FIGURES, 'utf8')) as PeerFigures
}

export function writeFigures(now: PeerFigures): void {
  const figures = mergedFigures(keptFigures(), now)
  writeFileSync(FIGURES, `${JSON.stringify(figures, undefined, 2)}\n`)
  publishFigures(figuresById(figures), 'peers.')
}

/** `peers.<gateway>.<measure>.<case or rate>`. */
export function figuresById({ contenders }: PeerFigures): Figures {
  return Object.fromEntries(contenders.flatMap(entriesOf))
}

function entriesOf({
  id,
  cases,
  latency,
  start,
  answers,
}: ContenderFigures): readonly (readonly [string, Figure])[] {
  const entry = (name: string, text: string, run: Run): readonly [string, Figure] => [
    `peers.${id}.${name}`,
    figureOf(text, run),
  ]
  const faultEntries = (asked: NonNullable<ContenderFigures['answers']>) => {
    const { passedOn, right, refused } = countsOf(asked.texts)
    return [
      entry('faults.passed-on', String(passedOn), asked),
      entry('faults.corrected', String(right), asked),
      entry('faults.refused', String(refused), asked),
    ]
  }
  return [
    ...Object.entries(cases).flatMap(([name, one]) => [
      entry(`cpu.${name}`, `${countText(one.cpuUs)} µs`, one),
      entry(`times-bare.${name}`, timesText(timesBare(one)), one),
      entry(`rate.${name}`, countText(one.requestsPerSecond), one),
      entry(`version.${name}`, one.version, one),
      ...(one.storesCpuUs === 0
        ? []
        : [
            entry(`stores-cpu.${name}`, `${countText(one.storesCpuUs)} µs`, one),
            entry(`stores-times-bare.${name}`, timesText(one.storesCpuUs / one.bareCpuUs), one),
          ]),
    ]),
    ...(answers === undefined ? [] : faultEntries(answers)),
    ...(latency?.rates ?? []).flatMap(({ perSecond, p50Ms, p99Ms, bareP50Ms, bareP99Ms }) => [
      entry(`added-p50.${perSecond}`, addedText(p50Ms, bareP50Ms), latency as Run),
      entry(`added-p99.${perSecond}`, addedText(p99Ms, bareP99Ms), latency as Run),
    ]),
    ...(start === undefined ? [] : [entry('memory', `${countText(start.idleMegabytes)} MB`, start)]),
  ]
}

function figureOf(text: string, { day, commit, load }: Run): Figure {
  const loadText = load === undefined ? 'not recorded' : `load average ${load.toFixed(1)}`
  return { text, date: day, commit, program: 'bench/peers', load: loadText }
}
