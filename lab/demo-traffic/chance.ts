/** Chance that can be repeated: the same seed gives the same demo. */
export interface Chance {
  /** From 0 to below 1. */
  share(): number
  below(most: number): number
  of<Item>(items: readonly [Item, ...Item[]]): Item
}

/** mulberry32: short, and even enough for a demo. */
export function chanceFrom(seed: number): Chance {
  let state = seed >>> 0
  const share = (): number => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
  const below = (most: number): number => Math.floor(share() * most)
  return { share, below, of: (items) => items[below(items.length)] ?? items[0] }
}
