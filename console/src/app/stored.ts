/**
 * What this browser remembers: choices of display, and what was typed in the images playground, which Torana keeps nowhere
 * else. Storage may be closed to us; then nothing is kept.
 */

export type Remembered =
  | 'theme'
  | 'language'
  | 'zone'
  | 'letters'
  | 'project'
  | 'last-project'
  | 'image-settings'
  | 'palette-use'

export function remembered(name: Remembered): string | null {
  try {
    return globalThis.localStorage?.getItem(`torana.${name}`) ?? null
  } catch {
    return null
  }
}

/** null forgets it. */
export function remember(name: Remembered, value: string | null): void {
  try {
    if (value === null) localStorage.removeItem(`torana.${name}`)
    else localStorage.setItem(`torana.${name}`, value)
  } catch {
    // The choice holds until the page is left.
  }
}
