/** How large a picture may be: it is drawn in real pixels, so that lines stay sharp and letters keep their size. */
import { useLayoutEffect, useRef, useState, type RefObject } from 'react'

export function useWidth<Part extends HTMLElement>(): readonly [ref: RefObject<Part | null>, width: number] {
  const ref = useRef<Part>(null)
  const [width, setWidth] = useState(0)
  useLayoutEffect(() => {
    const part = ref.current
    if (part === null) return
    setWidth(part.clientWidth)
    const observer = new ResizeObserver(([entry]) => entry && setWidth(Math.round(entry.contentRect.width)))
    observer.observe(part)
    return () => observer.disconnect()
  }, [])
  return [ref, width]
}

/** The same for pictures that fill their place. */
export function useSize<Part extends HTMLElement>(): readonly [
  ref: RefObject<Part | null>,
  size: { readonly width: number; readonly height: number },
] {
  const ref = useRef<Part>(null)
  const [size, setSize] = useState({ width: 0, height: 0 })
  useLayoutEffect(() => {
    const part = ref.current
    if (part === null) return
    const look = (): void => setSize({ width: part.clientWidth, height: part.clientHeight })
    look()
    const observer = new ResizeObserver(look)
    observer.observe(part)
    return () => observer.disconnect()
  }, [])
  return [ref, size]
}
