/** The orders in which keys are listed. A key has one place in each of them, so that a page can begin after another. */

/** By id, the last used first, or the next to end first. */
export const KEY_ORDERS = ['id', '-used', 'ends'] as const
export type KeyOrder = (typeof KEY_ORDERS)[number]

/** Keys of the same rank are ordered by id. */
export interface KeyPlace {
  readonly rank: number
  readonly id: string
}

/** Later than any end: 31 December 9999. */
export const NO_END_RANK = 253_402_300_799_999

interface Ranked {
  readonly lastUsedAtMs: number | undefined
  readonly expiresAtMs: number | undefined
}

/** Keys that were never used, and keys without an end, come last. */
export function rankIn(order: KeyOrder, { lastUsedAtMs, expiresAtMs }: Ranked): number {
  if (order === 'id') return 0
  return order === '-used' ? 0 - (lastUsedAtMs ?? 0) : (expiresAtMs ?? NO_END_RANK)
}

export function isBehind(place: KeyPlace, after: KeyPlace): boolean {
  return place.rank === after.rank ? place.id > after.id : place.rank > after.rank
}

/** By id, the place is the id itself. */
export function cursorOf(order: KeyOrder, { rank, id }: KeyPlace): string {
  return order === 'id' ? id : `${rank}~${id}`
}

/** Undefined: not a cursor of this order. */
export function placeOf(order: KeyOrder, cursor: string): KeyPlace | undefined {
  if (order === 'id') return { rank: 0, id: cursor }
  const [, rank, id] = /^(-?\d{1,15})~(.+)$/s.exec(cursor) ?? []
  return rank === undefined || id === undefined ? undefined : { rank: Number(rank), id }
}
