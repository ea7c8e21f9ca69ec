/**
 * How long the turns of this thread's event loop take, in CPU time: on a shared machine the time on the clock tells of the
 * neighbours. It keeps the loop turning all the while.
 */
export interface Turns {
  /** The longest since it was last asked. */
  longestMs(): number
  end(): void
}

export function watchTurns(): Turns {
  let longestMicros = 0
  let hasEnded = false
  let last = process.threadCpuUsage()
  const turn = (): void => {
    const now = process.threadCpuUsage()
    longestMicros = Math.max(longestMicros, now.user + now.system - last.user - last.system)
    last = now
    if (!hasEnded) setImmediate(turn).unref()
  }
  turn()
  return {
    longestMs() {
      const longest = longestMicros / 1000
      longestMicros = 0
      return longest
    },
    end: () => void (hasEnded = true),
  }
}
