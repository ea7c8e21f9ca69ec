/**
 * Shares out the turns of the event loop among all who ask, so many in each, first come first served: steps of several large
 * requests never run in one go.
 */
export function sharedTurns(perTurn: number): () => Promise<void> {
  const waiting: (() => void)[] = []
  const serve = (): void => {
    for (const resolve of waiting.splice(0, perTurn)) resolve()
    if (waiting.length > 0) setImmediate(serve)
  }
  return () =>
    new Promise((resolve) => {
      if (waiting.push(resolve) === 1) setImmediate(serve)
    })
}

/** Steps over a large request take a millisecond or more: a turn for each. */
export const takeTurn = sharedTurns(1)
