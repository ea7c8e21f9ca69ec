/** How large a chart may be: it is drawn in real pixels, so that lines stay sharp and letters keep their size. */
import { useCallback, useState, type RefCallback } from 'react'

export interface PictureSize {
  readonly width: number
  readonly height: number
}

const NOT_YET: PictureSize = { width: 0, height: 0 }

/**
 * The browser tells it once it has laid out the page. To ask for it earlier would make it lay out everything in the middle of
 * React's work, and both together are a task that one feels. A part that a table replaced for a while is measured again.
 */
export function useSize<Part extends HTMLElement>(): readonly [ref: RefCallback<Part>, size: PictureSize] {
  const [size, setSize] = useState(NOT_YET)
  const ref = useCallback((part: Part | null) => {
    if (part === null) return
    const observer = new ResizeObserver(([entry]) => {
      if (entry === undefined) return
      const { width, height } = entry.contentRect
      setSize({ width: Math.round(width), height: Math.round(height) })
    })
    observer.observe(part)
    return () => {
      observer.disconnect()
      setSize(NOT_YET)
    }
  }, [])
  return [ref, size]
}

/** For charts that choose their own height. */
export function useWidth<Part extends HTMLElement>(): readonly [ref: RefCallback<Part>, width: number] {
  const [ref, { width }] = useSize<Part>()
  return [ref, width]
}
