/** Where checks of a vector space are in their chart. Pure, tested. */

/** `cosine`: of texts. Images have limits of their own. */
export type DriftMeasure = 'cosine' | 'images' | 'length'

export interface DriftPoint {
  readonly atMs: number
  /** null: there was no answer, which is no drift. */
  readonly cosine: number | null
  /** null: there was no answer, or the deployment takes no images. */
  readonly images: number | null
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
  images: [0.9999999, 0.99999, 0.995, 0.98, 0],
  length: [0, 0.01, 0.02, 0.2, 2],
}
/** Below the first a deployment is warned, below the second it is quarantined. */
export const DRIFT_LIMITS = {
  cosine: { warned: 0.999, quarantined: 0.99 },
  images: { warned: 0.995, quarantined: 0.98 },
  /** Lengths have one limit: beyond it is quarantine. */
  length: { warned: 0.01, quarantined: 0.01 },
} as const

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

/** How far down a value of the measure is, from 0 to 1. */
export function driftDepth(measure: DriftMeasure, value: number): number {
  return measure === 'length' ? lengthDepth(value) : cosineDepth(value)
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
    const value = point[measure]
    if (value === null) {
      endMs = undefined
      continue
    }
    const [x, y] = [round(driftX(point.atMs, frame)), round(driftDepth(measure, value) * frame.height)]
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

function answeredOf<Look extends DriftLook>(looks: readonly Look[]): readonly Look[] {
  return looks.filter(({ verdict }) => verdict !== 'failed').toSorted((left, right) => left.atMs - right.atMs)
}

/** The checks at which the verdict became another one, newest first; no answer changes nothing. */
export function changesIn<Look extends DriftLook>(looks: readonly Look[]): readonly Look[] {
  const answered = answeredOf(looks)
  return answered
    .filter((look, index) => index > 0 && look.verdict !== answered[index - 1]?.verdict)
    .toReversed()
}

export interface Dip<Look> {
  readonly fromMs: number
  readonly toMs: number
  readonly worst: Look
  /** It lasts until now. */
  readonly isOpen: boolean
}

/** Runs of checks that were not good, with the worst of each, oldest first; no answer neither begins nor ends one. */
export function dipsIn<Look extends DriftLook>(looks: readonly Look[], slotMs: number): readonly Dip<Look>[] {
  const answered = answeredOf(looks)
  const runs: Look[][] = []
  for (const [index, look] of answered.entries()) {
    if (look.verdict === 'good') continue
    if (index > 0 && answered[index - 1]?.verdict !== 'good') runs.at(-1)?.push(look)
    else runs.push([look])
  }
  return runs.map((run) => {
    const last = run.at(-1) as Look
    return {
      fromMs: (run[0] as Look).atMs,
      toMs: last.atMs + slotMs,
      worst: run.reduce((one, other) => ((other.cosine ?? 1) < (one.cosine ?? 1) ? other : one)),
      isOpen: last === answered.at(-1),
    }
  })
}
