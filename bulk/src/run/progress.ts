/** The progress line at a terminal: rows done, rate, cost and time left. */
import { dollars } from '../money.ts'

/** The process, or a test's output. */
export interface ProgressOutput {
  readonly stderr: { write(text: string): unknown; readonly isTTY?: boolean }
}

export interface RunProgress {
  /** Rows with a vector or an error. */
  readonly done: number
  /** Undefined while too little of the corpus has been read for an estimate. */
  readonly total: number | undefined
  /** Whether the total is known, not estimated. */
  readonly isExact: boolean
  readonly costNanoUsd: bigint
  /** The gateway's reason for a pause. */
  readonly pause: string | undefined
}

const CLEAR = '\r\x1b[K'
const BAR_WIDTH = 24
/** Window over which the rate is measured: long enough for batches that finish in bursts. */
const RATE_MS = 30_000

export class ProgressLine {
  readonly #out: ProgressOutput
  readonly #nowMs: () => number
  #samples: { readonly atMs: number; readonly done: number }[] = []

  constructor(out: ProgressOutput, nowMs: () => number = () => performance.now()) {
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

  /** Undefined before the second sample. */
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
