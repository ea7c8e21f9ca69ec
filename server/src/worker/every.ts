/** Work that is done again and again. */
export interface Repetition {
  /** The work is not begun again. Resolves when the one under way has ended. */
  stop(): Promise<void>
}

/**
 * Does the work again and again. The pause counts from the end of the work, so that it never overlaps with
 * itself. A rejection goes to `onError`, and the next time comes as usual. The timer keeps no process alive.
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
