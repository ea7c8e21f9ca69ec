/** When a rate counts as held, p99 as flat, and memory as growing. */
import type { SentPart } from '../sender.ts'
import { median } from '../report.ts'

/** A caller that waits longer has noticed. */
const MAX_P99_MS = 250
/** Of the requests that were due: less, and the sender itself did not keep up. */
const MIN_SENT = 0.98
/** Tenths that are compared at both ends: one alone may have met a checkpoint. */
const COMPARED_TENTHS = 3
/** Times the p99 of the first tenths. */
const MAX_RISE = 1.5

export function isSustained(
  parts: readonly SentPart[],
  { rate, seconds }: { readonly rate: number; readonly seconds: number },
): boolean {
  const sent = parts.reduce((sum, part) => sum + part.sent, 0)
  return (
    sent >= rate * seconds * MIN_SENT &&
    parts.every((part) => part.answered === part.sent && part.p99Ms <= MAX_P99_MS)
  )
}

export interface Flatness {
  readonly text: string
  readonly max: number
  readonly isFlat: boolean
}

export function flatness(p99Ms: readonly number[]): Flatness {
  const [first, last] = [median(p99Ms.slice(0, COMPARED_TENTHS)), median(p99Ms.slice(-COMPARED_TENTHS))]
  const rise = last / first
  return { text: `${rise.toFixed(2)} ×`, max: MAX_RISE, isFlat: rise <= MAX_RISE }
}

/** The slope of the line through all samples, by least squares. */
export function slopePerHour(samples: readonly number[], everyMs: number): number {
  const hours = samples.map((_, index) => (index * everyMs) / 3_600_000)
  const mean = (values: readonly number[]): number =>
    values.reduce((sum, value) => sum + value, 0) / values.length
  const [meanHours, meanSample] = [mean(hours), mean(samples)]
  const products = samples.map((sample, index) => ((hours[index] ?? 0) - meanHours) * (sample - meanSample))
  return mean(products) / mean(hours.map((hour) => (hour - meanHours) ** 2))
}
