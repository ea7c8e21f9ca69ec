/**
 * What a store rejects with when it could not be reached, or did not answer in time. Nothing is known of what it was asked
 * to do: the same may be asked again, since every change a store takes can be repeated.
 */
export class StoreAway extends Error {
  override readonly name = 'StoreAway'
}

/** When a caller is told to come back: the two retries of an SDK then outlast most failovers of a database, which take ten seconds. */
export const STORE_RETRY_MS = 6000
