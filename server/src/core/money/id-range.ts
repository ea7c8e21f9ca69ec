/** Request ids are UUIDv7, so a range of time is a range of ids. */

export const DAY_MS = 86_400_000
export const LOWEST_ID = '00000000-0000-0000-0000-000000000000'
/** Above every UUIDv7. */
export const HIGHEST_ID = 'ffffffff-ffff-ffff-ffff-ffffffffffff'

/** The last moment that an id can hold. */
const LAST_MS = 2 ** 48 - 1

/** The lowest possible id of that moment. */
export function lowestIdAt(unixMs: number): string {
  const hex = Math.min(LAST_MS, Math.max(0, Math.trunc(unixMs)))
    .toString(16)
    .padStart(12, '0')
  return `${hex.slice(0, 8)}-${hex.slice(8)}-0000-0000-000000000000`
}
