/** The board by keyboard alone: arrow keys move a cursor, space paints there; held down, it moves the image with the pointer. */
import { useRef, type KeyboardEvent } from 'react'
import type { Point } from '../../../workers/pixels/shapes.ts'
import { words } from '../../../words/words.ts'
import type { BoardScreen } from './board-screen.ts'
import type { Brush, Painting } from './painting.ts'
import { toScreen } from './view.ts'

interface KeysOptions {
  readonly screen: BoardScreen | undefined
  readonly painting: Painting
  readonly brush: Brush
  readonly setCursor: (text: string) => void
}

const ARROWS: Record<string, readonly [dx: number, dy: number]> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
}
/** Of the image's edges. */
const STEP = 0.01
const LARGE_STEP = 0.1

export function useBoardKeys({ screen, painting, brush, setCursor }: KeysOptions) {
  const cursor = useRef<Point>(undefined)

  const show = (at: Point): void => {
    screen?.showRing(toScreen(screen.view, at), brush.diameter)
    setCursor(words.images.cursorAt(Math.round(at.x), Math.round(at.y)))
  }

  const paint = (): void => {
    const { width, height } = painting.size
    cursor.current ??= { x: width / 2, y: height / 2 }
    const radius = brush.diameter / 2
    painting.stroke(cursor.current, cursor.current, { from: radius, to: radius }, brush.tool !== 'eraser')
    painting.end()
    show(cursor.current)
  }

  return {
    onKeyDown: (event: KeyboardEvent) => {
      if (event.metaKey || event.ctrlKey || event.altKey) return
      if (event.key === ' ') {
        event.preventDefault()
        if (!event.repeat) screen?.hold()
        return
      }
      const arrow = ARROWS[event.key]
      if (arrow === undefined) return
      event.preventDefault()
      const { width, height } = painting.size
      const step = event.shiftKey ? LARGE_STEP : STEP
      const { x, y } = cursor.current ?? { x: width / 2, y: height / 2 }
      cursor.current = {
        x: Math.min(width, Math.max(0, x + arrow[0] * step * width)),
        y: Math.min(height, Math.max(0, y + arrow[1] * step * height)),
      }
      show(cursor.current)
    },
    onKeyUp: (event: KeyboardEvent) => {
      // With the pointer it moved the image.
      if (event.key === ' ' && screen?.isHeld === true && !screen.release()) paint()
    },
    onBlur: () => void screen?.release(),
  }
}
