/** Repeatable randomness: the same seed draws the same numbers. */
export interface Random {
  /** From 0 up to, but not including, 1. */
  next(): number
  /** A whole number from 0 up to, but not including, `end`. */
  below(end: number): number
  /** One of them, with a probability by its weight. */
  pick<Entry extends { readonly weight: number }>(entries: readonly Entry[]): Entry
}

/** A counter in steps of the golden ratio, mixed twice (the finaliser of MurmurHash3): good enough to choose faults by. */
export function seededRandom(seed: number): Random {
  let state = seed | 0
  const next = (): number => {
    state = (state + 0x9e3779b9) | 0
    let mixed = state ^ (state >>> 16)
    mixed = Math.imul(mixed, 0x85ebca6b)
    mixed ^= mixed >>> 13
    mixed = Math.imul(mixed, 0xc2b2ae35)
    mixed ^= mixed >>> 16
    return (mixed >>> 0) / 2 ** 32
  }
  return {
    next,
    below: (end) => Math.floor(next() * end),
    pick(entries) {
      let left = next() * entries.reduce((sum, { weight }) => sum + weight, 0)
      for (const entry of entries) {
        left -= entry.weight
        if (left < 0) return entry
      }
      return entries.at(-1) as (typeof entries)[number]
    },
  }
}
