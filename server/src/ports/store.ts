/**
 * What a store rejects with when it could not be reached, or did not answer in time. Nothing is known of what it was asked
 * to do: the same may be asked again, since every change a store takes can be repeated.
 */
export class StoreAway extends Error {
  override readonly name = 'StoreAway'
}
