/** The gate's verdict on its windows. */

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

/**
 * The better quarter of the windows decides. In a window both have the same machine, whose speed changes between windows;
 * compiling and neighbours disturb either of the two, and the lane costs more when disturbed.
 */
const SPEAKING_SHARE = 0.75

export function verdictOf(windows: readonly Costs[], committed: number): Verdict {
  const ranked = windows
    .map(({ bareCpu, toranaCpu }) => ({ bareCpu, toranaCpu, ratio: bareCpu / toranaCpu }))
    .toSorted((left, right) => left.ratio - right.ratio)
  const { ratio, bareCpu, toranaCpu } = ranked[Math.ceil(ranked.length * SPEAKING_SHARE) - 1] ?? {
    ratio: Number.NaN,
    bareCpu: Number.NaN,
    toranaCpu: Number.NaN,
  }
  const least = committed * (1 - MAX_LOSS)
  if (windows.length === 0) return { ratio, isPassed: false, text: 'hot lane: nothing was measured' }
  const text = [
    `hot lane: ${ratio.toFixed(2)} of the bare proxy, ${toranaCpu.toFixed(0)} µs a request beside ${bareCpu.toFixed(0)};`,
    `lab/bench/gate.json has ${committed.toFixed(2)}, less than ${least.toFixed(2)} fails`,
  ].join(' ')
  return { ratio, isPassed: ratio >= least, text }
}
