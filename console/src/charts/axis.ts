/** Round values for the axis of a chart. Pure. */
import { nice, ticks } from 'd3-array'

interface ValueTick {
  readonly value: number
  readonly text: string
}

export interface ValueScale {
  readonly ticks: readonly ValueTick[]
  /** How high a value lies, from 0 at the bottom to 1 at the top. */
  readonly share: (value: number) => number
}

/** `digits`: the decimals that tell two neighbours of the axis apart. */
export type AxisText = (value: number, digits: number) => string

/** From zero to a round number not below `most`, in about so many lines: fewer where two of them would read the same. */
export function fromZero(most: number, lines: number, text: AxisText): ValueScale {
  const end = most > 0 ? most : 1
  for (let count = lines; count > 1; count -= 1) {
    const round = ticksTo(end, count, text)
    if (new Set(round.map((tick) => tick.text)).size === round.length) return scaleOf(round)
  }
  return scaleOf(ticksTo(end, 1, text))
}

function ticksTo(end: number, count: number, text: AxisText): readonly ValueTick[] {
  const values = ticks(0, nice(0, end, count)[1], count)
  const digits = Math.max(0, -Math.floor(Math.log10(values[1] ?? end) + 1e-9))
  return values.map((value) => ({ value, text: text(value, digits) }))
}

function scaleOf(round: readonly ValueTick[]): ValueScale {
  const most = round.at(-1)?.value ?? 1
  return { ticks: round, share: (value) => value / most }
}
