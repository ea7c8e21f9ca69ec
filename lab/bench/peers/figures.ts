/** The result of a run, as `lab/bench/peers/figures.json` keeps it. The page is generated from it. */
import type { CaseId } from './cases.ts'

export interface CaseFigures {
  readonly requestsPerSecond: number
  /** CPU time of all its processes, µs a request: the median of the windows. */
  readonly cpuUs: number
  /** The same in each window. */
  readonly cpuWindows: readonly number[]
  /** Of PostgreSQL and Redis, µs a request. */
  readonly storesCpuUs: number
  /** Of the bare proxy, in windows that alternate with these. */
  readonly bareCpuUs: number
  readonly halfLoad: HalfLoad
}

/** At half of its capacity; the bare proxy gets the same rate. */
export interface HalfLoad {
  readonly requestsPerSecond: number
  readonly p50Ms: number
  readonly p99Ms: number
  readonly bareP50Ms: number
  readonly bareP99Ms: number
}

export interface ContenderFigures {
  readonly id: string
  readonly name: string
  readonly version: string
  readonly settings: string
  readonly cores: 1 | 2
  /** The day of the measurement. */
  readonly day: string
  readonly startSeconds: number
  /** Before the first request, and after the last one. */
  readonly idleMegabytes: number
  readonly usedMegabytes: number
  readonly cases: Readonly<Partial<Record<CaseId, CaseFigures>>>
  /** By the name of the question. Undefined: not asked. */
  readonly answers?: Readonly<Record<string, string>>
}

/** A part that was measured again alone: the rest of its row keeps the older figures. */
export interface Remeasured {
  readonly day: string
  readonly case: CaseId
  /** The arguments of `npm run lab -- bench/peers`. */
  readonly arguments: string
  /** By contender, all measured in the same minutes. */
  readonly contenders: Readonly<Record<string, { readonly cpuUs: number; readonly timesBare: number }>>
}

export interface Figures {
  readonly machine: string
  readonly contenders: readonly ContenderFigures[]
  /** Names of those that could not be measured, and why. */
  readonly skipped: Readonly<Record<string, string>>
  readonly remeasured?: readonly Remeasured[]
}

/** Order of the rows of the page. Others come last. */
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

/** Newer figures replace older ones; those that were not measured again stay. */
export function mergedFigures(before: Figures | undefined, now: Figures): Figures {
  if (before === undefined) return now
  const contenders = new Map(before.contenders.map((one) => [one.id, one]))
  for (const one of now.contenders) {
    const known = contenders.get(one.id)
    const answers = one.answers ?? known?.answers
    contenders.set(one.id, {
      ...one,
      cases: { ...known?.cases, ...one.cases },
      ...(answers && { answers }),
    })
  }
  const measured = new Set([...contenders.values()].map(({ name }) => name))
  const skipped = Object.entries({ ...before.skipped, ...now.skipped }).filter(
    ([name]) => !measured.has(name),
  )
  const isStillNewest = ({ case: id, contenders: parts }: Remeasured): boolean =>
    !now.contenders.some((one) => one.id in parts && one.cases[id] !== undefined)
  return {
    machine: now.machine,
    contenders: [...contenders.values()].toSorted((left, right) => placeOf(left) - placeOf(right)),
    skipped: Object.fromEntries(skipped),
    remeasured: before.remeasured?.filter(isStillNewest) ?? [],
  }
}
