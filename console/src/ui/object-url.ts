/** The only owners of object URLs: each is revoked when its bytes are no longer shown or saved. */
import { useLayoutEffect, useState } from 'react'

/** An address for the bytes while the component shows them. */
export function useObjectUrl(blob: Blob | undefined): string | undefined {
  const [shown, setShown] = useState<{ readonly blob: Blob; readonly url: string }>()
  // Before the browser paints: an image that replaces another leaves no gap.
  useLayoutEffect(() => {
    if (blob === undefined) return
    const url = URL.createObjectURL(blob)
    // oxlint-disable-next-line react/set-state-in-effect -- Only an effect can revoke the address that it made.
    setShown({ blob, url })
    return () => URL.revokeObjectURL(url)
  }, [blob])
  return shown?.blob === blob ? shown?.url : undefined
}

/** The browser has read the bytes of a download well before. */
const SAVED_WITHIN_MS = 10_000

export function saveBlob(blob: Blob, name: string): void {
  const url = URL.createObjectURL(blob)
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(url), SAVED_WITHIN_MS)
}
