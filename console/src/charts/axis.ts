/** Round numbers for axes, and times for the ones below. Pure. */
import { scaleLinear, scaleUtc } from 'd3-scale'

/** From zero to a round number not below `most`, in three or four lines. */
export function valueTicks(most: number, lines = 3): readonly number[] {
  if (!(most > 0)) return [0, 1]
  return scaleLinear([0, most], [0, 1]).nice(lines).ticks(lines)
}

export interface TimeTick {
  readonly atMs: number
  readonly text: string
}

/** First, last and round times between them: for a strip with labels at both ends. */
export function endTicks(
  fromMs: number,
  toMs: number,
  parts: number,
  text: (ms: number) => string,
): readonly TimeTick[] {
  return Array.from({ length: parts + 1 }, (_, index) => {
    const atMs = fromMs + ((toMs - fromMs) * index) / parts
    return { atMs, text: text(atMs) }
  })
}

/** Round times in UTC, about as many as asked for. */
export function roundTicks(
  fromMs: number,
  toMs: number,
  about: number,
  text: (ms: number) => string,
): readonly TimeTick[] {
  return scaleUtc([fromMs, toMs], [0, 1])
    .ticks(about)
    .map((time) => ({ atMs: time.getTime(), text: text(time.getTime()) }))
}

/** Log axes: the powers of ten around the values. */
export function powerTicks(least: number, most: number): readonly number[] {
  const [first, last] = [
    Math.floor(Math.log10(Math.max(least, 1e-9))),
    Math.ceil(Math.log10(Math.max(most, 1e-9))),
  ]
  return Array.from({ length: last - first + 1 }, (_, index) => 10 ** (first + index))
}
