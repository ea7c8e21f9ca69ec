/** How a figure moves over a long run. */
import { median } from '../../report.ts'

export interface Sample {
  readonly atMs: number
  readonly bytes: number
  readonly handles: number
}

export interface Growth {
  /** Medians of the first and the last tenth of the samples. */
  readonly first: number
  readonly last: number
  /** By least squares. */
  readonly perHour: number
}

export function growthOf(samples: readonly Sample[], valueOf: (sample: Sample) => number): Growth {
  const values = samples.map(valueOf)
  const tenth = Math.ceil(values.length / 10)
  const hours = samples.map(({ atMs }) => atMs / 3_600_000)
  const meanOf = (numbers: readonly number[]): number =>
    numbers.reduce((sum, number) => sum + number, 0) / numbers.length
  const [meanHour, meanValue] = [meanOf(hours), meanOf(values)]
  let [shared, spread] = [0, 0]
  for (const [index, hour] of hours.entries()) {
    shared += (hour - meanHour) * ((values[index] ?? 0) - meanValue)
    spread += (hour - meanHour) ** 2
  }
  return {
    first: median(values.slice(0, tenth)),
    last: median(values.slice(-tenth)),
    perHour: shared / spread,
  }
}

/** Latencies of ten equal parts of the answers, in the order of their requests. */
export function tenthsOf(
  answers: readonly { readonly atMs: number; readonly tookMs: number }[],
): readonly (readonly number[])[] {
  const inOrder = answers.toSorted((left, right) => left.atMs - right.atMs)
  const bound = (tenth: number): number => Math.round((inOrder.length * tenth) / 10)
  return Array.from({ length: 10 }, (_, tenth) =>
    inOrder.slice(bound(tenth), bound(tenth + 1)).map(({ tookMs }) => tookMs),
  )
}
