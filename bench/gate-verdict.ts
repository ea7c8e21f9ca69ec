/** What the gate makes of its windows. */

/** A quarter: between runs the ratio moves by a tenth, on a busy machine too. */
const MAX_LOSS = 0.25

/** CPU microseconds a request. */
export interface Costs {
  readonly bareCpu: number
  readonly toranaCpu: number
}

export interface Verdict {
  /** The bare proxy's CPU time for a request to Torana's. */
  readonly ratio: number
  readonly isPassed: boolean
  readonly text: string
}

/** The cheapest window of each speaks: neighbours, cold caches and code that is still compiled only ever add to a cost. */
export function verdictOf(windows: readonly Costs[], committed: number): Verdict {
  const bareCpu = Math.min(...windows.map((window) => window.bareCpu))
  const toranaCpu = Math.min(...windows.map((window) => window.toranaCpu))
  const ratio = bareCpu / toranaCpu
  const least = committed * (1 - MAX_LOSS)
  if (windows.length === 0) return { ratio, isPassed: false, text: 'hot lane: nothing was measured' }
  const text = [
    `hot lane: ${ratio.toFixed(2)} of the bare proxy, ${toranaCpu.toFixed(0)} µs a request beside ${bareCpu.toFixed(0)};`,
    `bench/gate.json has ${committed.toFixed(2)}, less than ${least.toFixed(2)} fails`,
  ].join(' ')
  return { ratio, isPassed: ratio >= least, text }
}
