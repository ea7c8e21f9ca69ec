/** Periodic work. */
export interface Repetition {
  /** Stops further runs. Resolves when the one in progress has ended. */
  stop(): Promise<void>
}

/** Runs work again and again, one run after another. A rejection goes to `onError`. */
export type Repeat = (work: () => Promise<void>, onError: (error: unknown) => void) => Repetition

export function everyMs(intervalMs: number): Repeat {
  return (work, onError) => every(intervalMs, work, onError)
}

/**
 * Runs the work periodically. The pause counts from the end of the work, so that runs never overlap. A
 * rejection goes to `onError`, and the next run comes as usual. The timer keeps no process alive.
 */
export function every(
  intervalMs: number,
  work: () => Promise<void>,
  onError: (error: unknown) => void,
): Repetition {
  let underWay: Promise<void> | undefined
  let timer: NodeJS.Timeout | undefined
  let isStopped = false
  const once = async (): Promise<void> => {
    try {
      await work()
    } catch (error) {
      onError(error)
    }
    wait()
  }
  const wait = (): void => {
    if (isStopped) return
    timer = setTimeout(() => {
      underWay = once()
    }, intervalMs).unref()
  }
  wait()
  return {
    async stop() {
      isStopped = true
      clearTimeout(timer)
      await underWay
    },
  }
}
