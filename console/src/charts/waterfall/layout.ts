/** Where the time of a request went, as rows and bars. Pure: the picture is made of what it returns. */

export interface WaterfallStep {
  readonly name: string
  readonly start_ms: number
  readonly duration_ms: number
}

export interface WaterfallCall {
  readonly attempt: number
  readonly start_ms: number
  readonly duration_ms: number
  readonly waited_ms: number
  readonly first_byte_ms: number | null
  readonly outcome: string
  readonly instead_of: number | null
}

export interface Bar {
  /** In milliseconds from the beginning. */
  readonly fromMs: number
  readonly toMs: number
  readonly tone: 'own' | 'cache' | 'upstream' | 'answering' | 'waited' | 'failed'
}

export interface WaterfallRow<Step, Call> {
  readonly key: string
  readonly step?: Step
  readonly call?: Call
  /** Counted from 1. */
  readonly callNumber?: number
  readonly startMs: number
  readonly durationMs: number
  readonly bars: readonly Bar[]
}

/** A line from a failed call to the one that took its place, at the moment of the failure. */
interface Joint {
  readonly fromRow: number
  readonly toRow: number
  readonly atMs: number
}

export interface WaterfallLayout<Step, Call> {
  readonly rows: readonly WaterfallRow<Step, Call>[]
  readonly joints: readonly Joint[]
  readonly ticksMs: readonly number[]
  readonly endMs: number
  /** So many milliseconds at the beginning are worth a strip of their own, because one call dwarfs them. */
  readonly lensMs: number | undefined
}

/** Shorter steps are folded into the one after them: nobody could see their bars. */
const LEAST_STEP_MS = 0.05
/** A call that takes so many times all the rest hides it. */
const DWARFS = 20
const LENS_MS = 20

/** Steps that come before the calls, in the order of the journey. */
const BEFORE: ReadonlySet<string> = new Set(['authenticate', 'read', 'negotiate', 'admit', 'gather'])

export function waterfallLayout<Step extends WaterfallStep, Call extends WaterfallCall>(
  steps: readonly Step[],
  calls: readonly Call[],
  durationMs: number,
): WaterfallLayout<Step, Call> {
  const shown = folded(steps)
  const ordered = calls.toSorted((a, b) => a.attempt - b.attempt)
  const rows = [
    ...shown.filter(({ name }) => BEFORE.has(name)).map(stepRow),
    ...ordered.map((call, index) => callRow(call, index + 1)),
    ...shown.filter(({ name }) => !BEFORE.has(name)).map(stepRow),
  ] as WaterfallRow<Step, Call>[]
  const endMs = Math.max(durationMs, ...rows.map((row) => row.startMs + row.durationMs), 0.1)
  const longest = Math.max(0, ...calls.map(({ duration_ms }) => duration_ms))
  const isDwarfed = longest > DWARFS * Math.max(0.1, endMs - longest) && endMs > 10 * LENS_MS
  return {
    rows,
    joints: jointsOf(rows),
    ticksMs: ticksTo(endMs),
    endMs,
    lensMs: isDwarfed ? LENS_MS : undefined,
  }
}

/** A folded step gives its time to the one after it, or, as the last, to the one before. */
function folded<Step extends WaterfallStep>(steps: readonly Step[]): readonly Step[] {
  const result: Step[] = []
  let fromMs: number | undefined
  for (const step of steps) {
    const start = fromMs ?? step.start_ms
    const duration = step.start_ms + step.duration_ms - start
    if (duration < LEAST_STEP_MS) {
      fromMs = start
      continue
    }
    result.push({ ...step, start_ms: start, duration_ms: duration })
    fromMs = undefined
  }
  return result
}

function stepRow<Step extends WaterfallStep>(step: Step) {
  const { name, start_ms: startMs, duration_ms: durationMs } = step
  const tone = name === 'gather' ? ('cache' as const) : ('own' as const)
  const bars = [{ fromMs: startMs, toMs: startMs + durationMs, tone }]
  return { key: name, step, startMs, durationMs, bars }
}

function callRow<Call extends WaterfallCall>(call: Call, callNumber: number) {
  const { start_ms: startMs, duration_ms: durationMs, waited_ms: waitedMs, first_byte_ms: firstByteMs } = call
  const endMs = startMs + durationMs
  const bars: Bar[] = []
  if (waitedMs > 0) bars.push({ fromMs: startMs - waitedMs, toMs: startMs, tone: 'waited' })
  if (call.outcome !== 'ok') bars.push({ fromMs: startMs, toMs: endMs, tone: 'failed' })
  else {
    const answeringMs = firstByteMs === null ? endMs : Math.min(endMs, Math.max(startMs, firstByteMs))
    bars.push({ fromMs: startMs, toMs: answeringMs, tone: 'upstream' })
    if (answeringMs < endMs) bars.push({ fromMs: answeringMs, toMs: endMs, tone: 'answering' })
  }
  return { key: `call ${call.attempt}`, call, callNumber, startMs, durationMs, bars }
}

function jointsOf<Step, Call extends WaterfallCall>(
  rows: readonly WaterfallRow<Step, Call>[],
): readonly Joint[] {
  return rows.flatMap(({ call }, toRow) => {
    const before = call?.instead_of
    if (before === null || before === undefined) return []
    const fromRow = rows.findIndex((row) => row.call?.attempt === before)
    const failed = rows[fromRow]
    return failed === undefined ? [] : [{ fromRow, toRow, atMs: failed.startMs + failed.durationMs }]
  })
}

/** Four to six round numbers from 0 on. */
export function ticksTo(endMs: number): readonly number[] {
  const rough = endMs / 5
  const power = 10 ** Math.floor(Math.log10(rough))
  const step = [1, 2, 2.5, 5, 10].map((factor) => factor * power).find((one) => one >= rough * 0.99) ?? rough
  const ticks: number[] = []
  for (let index = 0; index * step <= endMs * 1.0001; index += 1)
    ticks.push(Number((index * step).toPrecision(12)))
  return ticks
}
