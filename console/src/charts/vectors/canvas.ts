/** A canvas in real pixels, drawn anew when what it shows changes. */
import { useLayoutEffect, useRef, type RefObject } from 'react'

export interface CanvasSize {
  readonly width: number
  readonly height: number
}

export function useCanvas(
  size: CanvasSize,
  draw: (context: CanvasRenderingContext2D) => void,
): RefObject<HTMLCanvasElement | null> {
  const ref = useRef<HTMLCanvasElement>(null)
  useLayoutEffect(() => {
    const canvas = ref.current
    const context = canvas?.getContext('2d')
    if (!canvas || !context || size.width === 0) return
    const ratio = globalThis.devicePixelRatio || 1
    const [width, height] = [Math.round(size.width * ratio), Math.round(size.height * ratio)]
    if (canvas.width !== width) canvas.width = width
    if (canvas.height !== height) canvas.height = height
    context.setTransform(ratio, 0, 0, ratio, 0, 0)
    context.clearRect(0, 0, size.width, size.height)
    draw(context)
  })
  return ref
}

/** A token of the theme in force; a canvas knows no variables. */
export function token(
  name: 'line' | 'line-strong' | 'sunken' | 'surface' | 'ink' | 'ink-2' | 'ink-3' | 's1' | 's6',
): string {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim()
}
