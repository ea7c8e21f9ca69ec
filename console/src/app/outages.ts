/** What the answers of the node tell about it: whether the session has ended, and whether the store is away. */
import { useSyncExternalStore } from 'react'
import { isSignedOut, isStoreUnreachable } from '../api/faults.ts'

interface Outages {
  readonly isSignedOut: boolean
  /** Undefined: it is there. */
  readonly storeAwaySinceMs: number | undefined
}

let outages: Outages = { isSignedOut: false, storeAwaySinceMs: undefined }
const listeners = new Set<() => void>()

export function useOutages(): Outages {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => outages,
  )
}

export function setSignedOut(next: boolean): void {
  change({ isSignedOut: next })
}

/** Every query and every write reports here. */
export function noteError(error: unknown): void {
  if (isSignedOut(error)) change({ isSignedOut: true })
  if (isStoreUnreachable(error)) change({ storeAwaySinceMs: outages.storeAwaySinceMs ?? Date.now() })
}

/** An answer that only the store can give. */
export function noteSuccess(): void {
  if (outages.storeAwaySinceMs !== undefined) change({ storeAwaySinceMs: undefined })
}

function change(part: Partial<Outages>): void {
  outages = { ...outages, ...part }
  for (const listener of listeners) listener()
}
