/** Round numbers for axes, and times for the ones below. Pure. */

/** From zero to a round number not below `most`, in three or four lines. */
export function valueTicks(most: number, lines = 3): readonly number[] {
  if (!(most > 0)) return [0, 1]
  const rough = most / lines
  const power = Math.floor(Math.log10(rough))
  // Between two round steps, the nearer one by their ratio.
  const times =
    [1, 2, 5, 10].find((step, at, all) => rough / 10 ** power <= Math.sqrt(step * (all[at + 1] ?? step))) ??
    10
  const tick = (at: number): number => (power < 0 ? (at * times) / 10 ** -power : at * times * 10 ** power)
  const count = Math.ceil(most / tick(1))
  return Array.from({ length: count + 1 }, (_, at) => tick(at))
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

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS
/** Lengths of time that people count in. */
const STEPS_MS = [
  ...[1, 2, 5, 10, 15, 30].map((minutes) => minutes * MINUTE_MS),
  ...[1, 2, 3, 6, 12].map((hours) => hours * HOUR_MS),
  ...[1, 2, 7, 14, 28].map((days) => days * DAY_MS),
]
/** The first Monday of Unix time: weeks begin there. */
const FIRST_MONDAY_MS = 4 * DAY_MS

/** Round times in UTC, not more than asked for. */
export function roundTicks(
  fromMs: number,
  toMs: number,
  most: number,
  text: (ms: number) => string,
): readonly TimeTick[] {
  const stepMs =
    STEPS_MS.find((ms) => (toMs - fromMs) / ms <= most) ?? Math.ceil((toMs - fromMs) / most / DAY_MS) * DAY_MS
  const originMs = stepMs < 7 * DAY_MS ? 0 : FIRST_MONDAY_MS
  const firstMs = originMs + Math.ceil((fromMs - originMs) / stepMs) * stepMs
  return Array.from({ length: Math.max(0, Math.floor((toMs - firstMs) / stepMs) + 1) }, (_, at) => {
    const atMs = firstMs + at * stepMs
    return { atMs, text: text(atMs) }
  })
}

/** Log axes: the powers of ten around the values. */
export function powerTicks(least: number, most: number): readonly number[] {
  const [first, last] = [
    Math.floor(Math.log10(Math.max(least, 1e-9))),
    Math.ceil(Math.log10(Math.max(most, 1e-9))),
  ]
  return Array.from({ length: last - first + 1 }, (_, index) => 10 ** (first + index))
}
