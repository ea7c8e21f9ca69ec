/** A canvas in real pixels, drawn anew when what it shows changes. */
import { useLayoutEffect, useRef, type RefObject } from 'react'
import type { PictureSize } from '../size.ts'

/** `shown` is all that `draw` looks at: a page is drawn more often than its picture changes. */
export function useCanvas(
  size: PictureSize,
  draw: (context: CanvasRenderingContext2D) => void,
  shown: readonly unknown[],
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
    // oxlint-disable-next-line react-hooks/exhaustive-deps, react/exhaustive-effect-dependencies -- `shown` stands for `draw`.
  }, [size.width, size.height, ...shown])
  return ref
}

/** A token of the theme in force; a canvas knows no variables. */
export function token(
  name: 'line' | 'line-strong' | 'sunken' | 'surface' | 'ink' | 'ink-2' | 'ink-3' | 's1' | 's6',
): string {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim()
}
