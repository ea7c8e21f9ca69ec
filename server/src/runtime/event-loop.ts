/**
 * Returns a function that yields the event loop. At most `perRound` of its callers continue in each round of
 * the loop, first come, first served: steps of several large requests never run in one go.
 */
export function sharedYield(perRound: number): () => Promise<void> {
  const waiting: (() => void)[] = []
  const serve = (): void => {
    for (const resolve of waiting.splice(0, perRound)) resolve()
    if (waiting.length > 0) setImmediate(serve)
  }
  return () =>
    new Promise((resolve) => {
      if (waiting.push(resolve) === 1) setImmediate(serve)
    })
}

/** Steps over a large request take a millisecond or more: each gets a separate round. */
export const yieldLoop = sharedYield(1)
