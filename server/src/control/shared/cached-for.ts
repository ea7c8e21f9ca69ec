/** Callers within `forMs` of each other share one answer. A failure is not kept: the next call asks again. */
export function cachedFor<Answer>(
  forMs: number,
  nowMs: () => number,
  ask: () => Promise<Answer>,
): () => Promise<Answer> {
  let askedMs = Number.NEGATIVE_INFINITY
  let answer: Promise<Answer> | undefined
  return () => {
    if (answer === undefined || nowMs() - askedMs >= forMs) {
      askedMs = nowMs()
      const asked = ask()
      answer = asked
      asked.catch(() => {
        if (answer === asked) answer = undefined
      })
    }
    return answer
  }
}
