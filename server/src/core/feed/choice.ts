/** Which catalogue counts: the pinned one, else the newest of those that were pulled and the one in the program. */
interface Choice {
  readonly feeds: readonly { readonly sequence: number }[]
  readonly pinned: number | 'built-in' | undefined
}

/** The sequence of a stored feed. Undefined: the catalogue in the program. */
export function chosenSequence({ feeds, pinned }: Choice, builtInSequence: number): number | undefined {
  if (pinned !== undefined) return pinned === 'built-in' ? undefined : pinned
  const newest = Math.max(builtInSequence, ...feeds.map(({ sequence }) => sequence))
  return newest === builtInSequence ? undefined : newest
}
