/** Where looks at a vector space stand in their picture. Pure, tested. */

export type DriftMeasure = 'cosine' | 'length'

export interface DriftPoint {
  readonly atMs: number
  /** null: there was no answer, which is no drift. */
  readonly cosine: number | null
  /** A share: 0.01 is one per cent. */
  readonly length: number | null
}

/** Nearer to one can't be told from it: vectors are of 32 bits. */
const LEAST_DISTANCE_POWER = -7.5
/** Of lengths, linear up to here, and logarithmic beyond. */
const LINEAR_PERCENT = 2
const LINEAR_PART = 0.5
const MOST_PERCENT = 200

/** The marks of each axis, the best first. */
export const DRIFT_TICKS: Record<DriftMeasure, readonly number[]> = {
  cosine: [0.9999999, 0.99999, 0.999, 0.99, 0],
  length: [0, 0.01, 0.02, 0.2, 2],
}
/** Below the first a deployment is warned, below the second it is quarantined. */
export const COSINE_LIMITS = { warned: 0.999, quarantined: 0.99 } as const
/** The same for images; the chart has the lines of texts. */
export const IMAGE_COSINE_LIMITS = { warned: 0.995, quarantined: 0.98 } as const
export const LENGTH_LIMIT = 0.01

/** How far down a cosine stands, from 0 (one) to 1 (nothing in common). Near one it counts in powers of ten. */
export function cosineDepth(cosine: number): number {
  const power = Math.log10(Math.max(10 ** LEAST_DISTANCE_POWER, 1 - Math.min(1, cosine)))
  // Between unlike vectors and opposite ones nothing more is to be seen.
  return Math.min(1, (power - LEAST_DISTANCE_POWER) / -LEAST_DISTANCE_POWER)
}

export function lengthDepth(drift: number): number {
  const percent = Math.min(MOST_PERCENT, Math.abs(drift) * 100)
  if (percent <= LINEAR_PERCENT) return (percent / LINEAR_PERCENT) * LINEAR_PART
  const beyond = Math.log10(percent / LINEAR_PERCENT) / Math.log10(MOST_PERCENT / LINEAR_PERCENT)
  return LINEAR_PART + beyond * (1 - LINEAR_PART)
}

function depthOf(point: DriftPoint, measure: DriftMeasure): number | null {
  const value = measure === 'cosine' ? point.cosine : point.length
  if (value === null) return null
  return measure === 'cosine' ? cosineDepth(value) : lengthDepth(value)
}

interface DriftFrame {
  readonly fromMs: number
  readonly toMs: number
  readonly width: number
  readonly height: number
}

function driftX(atMs: number, { fromMs, toMs, width }: DriftFrame): number {
  return ((atMs - fromMs) / Math.max(1, toMs - fromMs)) * width
}

/** A step line; a look without an answer breaks it. Each step lasts a slot, the last one to the end of its slot. */
export function driftPath(
  points: readonly DriftPoint[],
  measure: DriftMeasure,
  frame: DriftFrame,
  slotMs: number,
): string {
  const round = (pixels: number): number => Math.round(pixels * 10) / 10
  let path = ''
  let endMs: number | undefined
  for (const point of points.toSorted((left, right) => left.atMs - right.atMs)) {
    const depth = depthOf(point, measure)
    if (depth === null) {
      endMs = undefined
      continue
    }
    const [x, y] = [round(driftX(point.atMs, frame)), round(depth * frame.height)]
    // Nobody looked for longer than two slots: nothing is known in between.
    const isJoined = endMs !== undefined && point.atMs - endMs <= slotMs
    path += isJoined ? `H${x}V${y}` : `M${x} ${y}`
    endMs = Math.min(point.atMs + slotMs, frame.toMs)
    path += `H${round(driftX(endMs, frame))}`
  }
  return path
}

export interface DriftLook extends DriftPoint {
  readonly verdict: 'good' | 'warned' | 'quarantined' | 'failed'
}

/** The looks at which the verdict became another one, newest first; no answer changes nothing. */
export function changesIn<Look extends DriftLook>(looks: readonly Look[]): readonly Look[] {
  const answered = looks
    .filter(({ verdict }) => verdict !== 'failed')
    .toSorted((left, right) => left.atMs - right.atMs)
  return answered
    .filter((look, index) => index > 0 && look.verdict !== answered[index - 1]?.verdict)
    .toReversed()
}
