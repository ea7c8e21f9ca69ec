/** What kind of screen this is. */
import { useSyncExternalStore } from 'react'

const PHONE = '(width < 768px)'

export function usePhone(): boolean {
  return useSyncExternalStore(
    (listener) => {
      const query = matchMedia(PHONE)
      query.addEventListener('change', listener)
      return () => query.removeEventListener('change', listener)
    },
    () => matchMedia(PHONE).matches,
  )
}
