/** Times are shown in UTC, as the ledger has them, or in the browser's zone. */
import { useSyncExternalStore } from 'react'
import { remember, remembered } from '../app/stored.ts'

export type Zone = 'utc' | 'local'

let zone: Zone = remembered('zone') === 'local' ? 'local' : 'utc'
const listeners = new Set<() => void>()

/** What `Intl` calls it. Undefined: the browser's own. */
export function timeZone(): string | undefined {
  return zone === 'utc' ? 'UTC' : undefined
}

export function switchZone(): void {
  zone = zone === 'utc' ? 'local' : 'utc'
  remember('zone', zone)
  for (const listener of listeners) listener()
}

/** A component that shows times calls it, and renders again when the zone changes. */
export function useZone(): Zone {
  return useSyncExternalStore(subscribe, () => zone)
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}
