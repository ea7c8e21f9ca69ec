/** The verdict on the bare proxy beside itself. */
import { median } from '../report.ts'

/** Two equal programs that differ by more are not measured, but guessed. */
const MAX_NOISE = 0.1

/** How far half of the windows are from 1 at most: 0.05 is five per cent. */
export function noiseOf(ratios: readonly number[]): number {
  return median(ratios.map((ratio) => Math.abs(Math.log(ratio))))
}

export function isQuiet(ratios: readonly number[]): boolean {
  return noiseOf(ratios) <= MAX_NOISE
}
