/** The results of runs, as `lab/bench/peers/figures.json` keeps them. The page, the chart and docs/figures.json are made from it. */
import type { CaseId } from './cases.ts'

/** Each part of a row may come from another run. */
export interface Run {
  readonly day: string
  /** Of Torana's repository. */
  readonly commit: string
  /** Of the gateway. */
  readonly version: string
  /** The load average at its end, the benchmark's own load included. Undefined: not recorded. */
  readonly load?: number
}

export interface CaseFigures extends Run {
  readonly requestsPerSecond: number
  /** CPU time of all its processes, µs per request: the median of the windows. */
  readonly cpuUs: number
  /** The same in each window. */
  readonly cpuWindows: readonly number[]
  /** Of PostgreSQL and Redis, µs per request. */
  readonly storesCpuUs: number
  /** Of the bare proxy, in windows that alternate with these. */
  readonly bareCpuUs: number
}

/** Answers at one rate; the bare proxy gets the same rate in the windows between. Medians of the windows. */
export interface RateFigures {
  readonly perSecond: number
  readonly p50Ms: number
  readonly p99Ms: number
  readonly bareP50Ms: number
  readonly bareP99Ms: number
}

export interface LatencyFigures extends Run {
  /** The rates that it sustained, in ascending order. */
  readonly rates: readonly RateFigures[]
  /** The first rate that it did not sustain. */
  readonly tooMuch?: number
}

interface StartFigures extends Run {
  readonly seconds: number
  /** Before the first request, and after the last one. */
  readonly idleMegabytes: number
  readonly usedMegabytes: number
}

interface AnswerFigures extends Run {
  /** By the name of the question. */
  readonly texts: Readonly<Record<string, string>>
}

export interface ContenderFigures {
  readonly id: string
  readonly name: string
  readonly settings: string
  readonly cores: 1 | 2
  readonly start?: StartFigures
  readonly cases: Readonly<Partial<Record<CaseId, CaseFigures>>>
  readonly latency?: LatencyFigures
  readonly answers?: AnswerFigures
}

export interface PeerFigures {
  readonly machine: string
  readonly contenders: readonly ContenderFigures[]
}

/** Order of the rows. Others come last. */
const ORDER = [
  'bare',
  'torana-memory',
  'torana-strict',
  'torana-workers',
  'bifrost',
  'bifrost-two',
  'portkey',
  'litellm',
]

function placeOf({ id }: ContenderFigures): number {
  const place = ORDER.indexOf(id)
  return place < 0 ? ORDER.length : place
}

/** Newer figures replace older ones; those that were not measured again stay, with their day. */
export function mergedFigures(before: PeerFigures | undefined, now: PeerFigures): PeerFigures {
  if (before === undefined) return now
  const contenders = new Map(before.contenders.map((one) => [one.id, one]))
  for (const one of now.contenders) {
    const known = contenders.get(one.id)
    contenders.set(one.id, { ...known, ...one, cases: { ...known?.cases, ...one.cases } })
  }
  return {
    machine: now.machine,
    contenders: [...contenders.values()].toSorted((left, right) => placeOf(left) - placeOf(right)),
  }
}

/** The newest run of any part. */
export function newestRun({ start, cases, latency, answers }: ContenderFigures): Run | undefined {
  const runs = [start, latency, answers, ...Object.values(cases)].filter((run) => run !== undefined)
  return runs.toSorted((left, right) => (left.day < right.day ? 1 : -1))[0]
}

/** CPU of a request as a multiple of the bare proxy's, in the same minutes. */
export function timesBare({ cpuUs, bareCpuUs }: CaseFigures): number {
  return cpuUs / bareCpuUs
}

export function timesText(times: number): string {
  return `${times.toFixed(times < 20 ? 1 : 0)}×`
}

export function countText(value: number): string {
  return Math.round(value).toLocaleString('en-US')
}

/** Added to the bare proxy's. Below zero is noise. */
export function addedText(ms: number, bareMs: number): string {
  const added = ms - bareMs
  return added < 0.05 ? '0.0 ms' : `${added.toFixed(added < 10 ? 1 : 0)} ms`
}
