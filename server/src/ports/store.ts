/**
 * Thrown by a store that could not be reached, or did not answer in time. It is not known whether the request was done; the
 * caller may repeat it, since every change of a store can be repeated.
 */
export class StoreUnreachable extends Error {
  override readonly name = 'StoreUnreachable'
}

/** The store answers, but all connections for this kind of question were in use for too long: nothing was asked or done. */
export class StoreBusy extends StoreUnreachable {}

/**
 * Retry time given to callers: the two retries of an SDK then outlast most failovers of a database, which take ten seconds.
 */
export const STORE_RETRY_MS = 6000
