/** A range of slots that is being marked. Pure. */

export interface Brush {
  readonly first: number
  readonly last: number
}

/** Both ends included, whichever way one drags. */
export function brushOf(begun: number, at: number): Brush {
  return { first: Math.min(begun, at), last: Math.max(begun, at) }
}

/** The slots of a range of time; undefined: it lies outside, or covers all. */
export function brushIn(
  fromMs: number,
  toMs: number,
  slots: readonly number[],
  slotMs: number,
): Brush | undefined {
  const start = slots[0]
  if (start === undefined) return undefined
  const first = Math.max(0, Math.floor((fromMs - start) / slotMs))
  const last = Math.min(slots.length - 1, Math.ceil((toMs - start) / slotMs) - 1)
  if (first > last || (first === 0 && last === slots.length - 1)) return undefined
  return { first, last }
}
