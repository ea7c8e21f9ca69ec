/** What the gate makes of its windows. */
import { median, spreadText } from './parts.ts'

/** A quarter: between runs the ratio moves by a tenth, on a busy machine too. */
const MAX_LOSS = 0.25

export interface Verdict {
  readonly isPassed: boolean
  readonly text: string
}

/** `ratios`: in each window, the bare proxy's CPU time for a request to Torana's. */
export function verdictOf(ratios: readonly number[], committed: number): Verdict {
  const ratio = median(ratios)
  if (!Number.isFinite(ratio)) throw new Error('nothing was measured')
  const least = committed * (1 - MAX_LOSS)
  const text = `hot lane: ${spreadText(ratios)} of the bare proxy; bench/gate.json has ${committed.toFixed(2)}, less than ${least.toFixed(2)} fails`
  return { isPassed: ratio >= least, text }
}
