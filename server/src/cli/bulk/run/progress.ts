/** How far a run is, how quick, what it has cost and how long it will take: one line at a terminal. */
import { dollars } from '#core/price.ts'
import type { Output } from '../../command/output.ts'

export interface RunProgress {
  /** Rows that have their vector, or the reason why they have none. */
  readonly done: number
  /** Undefined: too little of the corpus has been read to say. */
  readonly total: number | undefined
  /** Whether the total is known, and not only likely. */
  readonly isExact: boolean
  readonly costNanoUsd: bigint
  /** Why the gateway has paused it. */
  readonly pause: string | undefined
}

const CLEAR = '\r\x1b[K'
const BAR_WIDTH = 24
/** The rate is that of this time: long enough for batches that end in bursts. */
const RATE_MS = 30_000

export class ProgressLine {
  readonly #out: Output
  readonly #nowMs: () => number
  #samples: { readonly atMs: number; readonly done: number }[] = []

  constructor(out: Output, nowMs: () => number = () => performance.now()) {
    this.#out = out
    this.#nowMs = nowMs
  }

  show(progress: RunProgress): void {
    const atMs = this.#nowMs()
    this.#samples.push({ atMs, done: progress.done })
    this.#samples = this.#samples.filter((sample, index, all) => {
      const next = all[index + 1]
      return next === undefined || atMs - next.atMs < RATE_MS
    })
    if (this.#out.stderr.isTTY === true)
      this.#out.stderr.write(`${CLEAR}${progressText(progress, this.#ratePerSecond())}`)
  }

  clear(): void {
    if (this.#out.stderr.isTTY === true) this.#out.stderr.write(CLEAR)
  }

  /** Undefined: nothing to measure yet. */
  #ratePerSecond(): number | undefined {
    const [first] = this.#samples
    const last = this.#samples.at(-1)
    if (first === undefined || last === undefined || last.atMs === first.atMs) return undefined
    return ((last.done - first.done) / (last.atMs - first.atMs)) * 1000
  }
}

export function progressText(
  { done, total, isExact, costNanoUsd, pause }: RunProgress,
  ratePerSecond: number | undefined,
): string {
  const share = total === undefined || total === 0 ? 0 : Math.min(1, done / total)
  const full = Math.floor(share * BAR_WIDTH)
  const of = total === undefined ? '' : ` of ${isExact ? '' : 'about '}${counted(total)}`
  const parts = [
    `[${'#'.repeat(full)}${'-'.repeat(BAR_WIDTH - full)}] ${Math.floor(share * 100)} %`,
    `${counted(done)}${of}`,
    ...(ratePerSecond === undefined ? [] : [`${counted(Math.round(ratePerSecond))}/s`]),
    dollars(costNanoUsd),
  ]
  if (pause !== undefined) parts.push(`paused: ${pause}`)
  else if (total !== undefined && ratePerSecond !== undefined && ratePerSecond > 0)
    parts.push(`${lasting((total - done) / ratePerSecond)} left`)
  return parts.join('  ')
}

function counted(count: number): string {
  return Math.round(count).toLocaleString('en-US')
}

/** `40 s`, `12 min`, `3 h 20 min`. */
function lasting(seconds: number): string {
  if (seconds < 90) return `${Math.ceil(seconds)} s`
  const minutes = Math.round(seconds / 60)
  if (minutes < 90) return `${minutes} min`
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`
}
