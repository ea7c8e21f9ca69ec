/** Judges what receivers wrote down, without code of the server. */

export interface Received {
  readonly id: string
  readonly type: string
  readonly incident: string
  readonly title: string
  readonly grouped: number
}

export interface Verdict {
  readonly starts: number
  readonly ends: number
  /** Events that came more than once. */
  readonly twice: number
  readonly missing: readonly string[]
  /** Incidents whose end came before their start. */
  readonly disordered: readonly string[]
}

/** `expected`: titles of incidents that started and ended. */
export function judge(received: readonly Received[], expected: readonly string[]): Verdict {
  const first = new Map<string, number>()
  received.forEach(({ title, type }, at) => {
    const name = `${title} ${type}`
    if (!first.has(name)) first.set(name, at)
  })
  const placeOf = (title: string, type: string): number | undefined => first.get(`${title} ${type}`)
  const started = expected.filter((title) => placeOf(title, 'alert.started') !== undefined)
  const ended = expected.filter((title) => placeOf(title, 'alert.ended') !== undefined)
  return {
    starts: started.length,
    ends: ended.length,
    twice: received.length - new Set(received.map(({ id }) => id)).size,
    missing: expected.filter((title) => !started.includes(title) || !ended.includes(title)),
    disordered: expected.filter(
      (title) => (placeOf(title, 'alert.ended') ?? Infinity) < (placeOf(title, 'alert.started') ?? -1),
    ),
  }
}
