export interface Repeating {
  /** No further time begins; resolves when the one under way has ended. */
  stop(): Promise<void>
}

/**
 * Does the work again and again, the pause counted from its end, so that it never overlaps with itself. What it rejects with
 * goes to `onError`, and the next time comes as usual. Its timer keeps no process alive.
 */
export function every(
  intervalMs: number,
  work: () => Promise<void>,
  onError: (error: unknown) => void,
): Repeating {
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
