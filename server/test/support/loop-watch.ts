/**
 * How long the rounds of this thread's event loop take, in CPU time: on a shared machine the time on the clock tells of the
 * neighbours. It keeps the loop turning all the while.
 */
export interface LoopWatch {
  /** The longest since it was last asked. */
  longestMs(): number
  end(): void
}

export function watchLoop(): LoopWatch {
  let longestMicros = 0
  let hasEnded = false
  let last = process.threadCpuUsage()
  const round = (): void => {
    const now = process.threadCpuUsage()
    longestMicros = Math.max(longestMicros, now.user + now.system - last.user - last.system)
    last = now
    if (!hasEnded) setImmediate(round).unref()
  }
  round()
  return {
    longestMs() {
      const longest = longestMicros / 1000
      longestMicros = 0
      return longest
    },
    end: () => void (hasEnded = true),
  }
}
