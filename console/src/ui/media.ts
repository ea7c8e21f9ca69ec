/** What kind of screen this is. */
import { useSyncExternalStore } from 'react'

const PHONE = '(width < 768px)'
/** The same width at which `tight:` ends. */
const WIDE = '(width >= 1360px)'

export function usePhone(): boolean {
  return useMedia(PHONE)
}

/** A wide thing has room beside the navigation and a side panel. */
export function useWide(): boolean {
  return useMedia(WIDE)
}

function useMedia(media: string): boolean {
  return useSyncExternalStore(
    (listener) => {
      const query = matchMedia(media)
      query.addEventListener('change', listener)
      return () => query.removeEventListener('change', listener)
    },
    () => matchMedia(media).matches,
  )
}
