/** Mouse, pen and fingers on the board: one paints, two move and zoom, and so does the wheel. */
import { useEffect, useRef, type PointerEvent, type RefObject } from 'react'
import type { Point } from '../../../workers/pixels/shapes.ts'
import type { BoardScreen } from './board-screen.ts'
import { cornersOf, outlineOf } from './outline.ts'
import type { Brush, Painting } from './painting.ts'

interface PointersOptions {
  readonly screen: BoardScreen | undefined
  readonly painting: Painting
  readonly brush: Brush
  readonly frame: RefObject<HTMLDivElement | null>
}

interface Drag {
  readonly kind: 'stroke' | 'move' | 'shape'
  readonly isPainted: boolean
  points: Point[]
  last: Point
  lastRadius: number
}

/** What a wheel turns at once. */
const WHEEL_STEP = 0.0016
/** A pen that hardly touches still paints. */
const MIN_PRESSURE = 0.2

export function usePointers({ screen, painting, brush, frame }: PointersOptions) {
  const drag = useRef<Drag>(undefined)
  const fingers = useRef(new Map<number, Point>())
  const lastEnd = useRef<Point>(undefined)

  useEffect(() => {
    // React's own listener is passive: the page would scroll.
    const onWheel = (event: WheelEvent): void => {
      event.preventDefault()
      screen?.zoom(Math.exp(-event.deltaY * WHEEL_STEP), screen.onScreen(event))
    }
    const element = frame.current
    element?.addEventListener('wheel', onWheel, { passive: false })
    return () => element?.removeEventListener('wheel', onWheel)
  }, [screen, frame])

  const radiusOf = (event: { pointerType: string; pressure: number }): number =>
    (brush.diameter / 2) * (event.pointerType === 'pen' ? Math.max(MIN_PRESSURE, event.pressure) : 1)

  const showRing = (event: PointerEvent): void => {
    const isBrush = (brush.tool === 'brush' || brush.tool === 'eraser') && event.pointerType !== 'touch'
    screen?.showRing(isBrush ? screen.onScreen(event) : undefined, brush.diameter)
  }

  const begin = (event: PointerEvent): void => {
    if (screen === undefined) return
    const at = screen.pointOf(event)
    const isMove = event.button === 1 || screen.isHeld
    const isShape = brush.tool === 'rectangle' || brush.tool === 'lasso'
    const radius = radiusOf(event)
    const isPainted = isShape ? !event.altKey : brush.tool === 'brush'
    drag.current = {
      kind: isMove ? 'move' : isShape ? 'shape' : 'stroke',
      isPainted,
      points: [at],
      last: isMove ? screen.onScreen(event) : at,
      lastRadius: radius,
    }
    if (drag.current.kind !== 'stroke') return
    const from = event.shiftKey && lastEnd.current !== undefined ? lastEnd.current : at
    painting.stroke(from, at, { from: radius, to: radius }, isPainted)
  }

  /** A second finger: what the first one painted is taken back. */
  const pinch = (): void => {
    if (drag.current?.kind === 'stroke') {
      painting.end()
      painting.undo()
    }
    drag.current = undefined
    screen?.outline([])
  }

  const onMoveOfTwo = (event: PointerEvent): void => {
    if (screen === undefined) return
    const before = [...fingers.current.values()]
    fingers.current.set(event.pointerId, screen.onScreen(event))
    const after = [...fingers.current.values()]
    const [one, two] = [middleOf(before), middleOf(after)]
    screen.move(two.x - one.x, two.y - one.y)
    const spread = spreadOf(before)
    if (spread > 0) screen.zoom(spreadOf(after) / spread, two)
  }

  const go = (event: PointerEvent): void => {
    const now = drag.current
    if (screen === undefined || now === undefined) return
    if (now.kind === 'move') {
      const at = screen.onScreen(event)
      screen.move(at.x - now.last.x, at.y - now.last.y)
      now.last = at
      return
    }
    const events = event.nativeEvent.getCoalescedEvents()
    for (const one of events.length > 0 ? events : [event.nativeEvent]) {
      const at = screen.pointOf(one)
      const radius = radiusOf(one)
      if (now.kind === 'stroke')
        painting.stroke(now.last, at, { from: now.lastRadius, to: radius }, now.isPainted)
      else now.points.push(at)
      now.last = at
      now.lastRadius = radius
    }
    if (now.kind === 'shape') screen.outline(outlineOf(brush.tool, now.points))
  }

  const end = (): void => {
    const now = drag.current
    drag.current = undefined
    if (screen === undefined || now === undefined) return
    if (now.kind === 'stroke') {
      painting.end()
      lastEnd.current = now.last
    }
    if (now.kind !== 'shape') return
    screen.outline([])
    if (brush.tool === 'lasso') painting.lasso(now.points, now.isPainted)
    else painting.rectangle(cornersOf(now.points), now.isPainted)
  }

  return {
    onPointerDown: (event: PointerEvent<HTMLDivElement>) => {
      if (event.button > 1) return
      event.currentTarget.setPointerCapture(event.pointerId)
      event.currentTarget.focus({ preventScroll: true })
      if (screen !== undefined) fingers.current.set(event.pointerId, screen.onScreen(event))
      if (fingers.current.size === 2) pinch()
      else if (fingers.current.size === 1) begin(event)
    },
    onPointerMove: (event: PointerEvent<HTMLDivElement>) => {
      showRing(event)
      if (fingers.current.size === 2) onMoveOfTwo(event)
      else go(event)
    },
    onPointerUp: (event: PointerEvent<HTMLDivElement>) => {
      fingers.current.delete(event.pointerId)
      end()
    },
    onPointerCancel: (event: PointerEvent<HTMLDivElement>) => {
      fingers.current.delete(event.pointerId)
      end()
    },
    onPointerLeave: () => screen?.showRing(undefined),
  }
}

function middleOf([one, other]: readonly Point[]): Point {
  if (one === undefined || other === undefined) return { x: 0, y: 0 }
  return { x: (one.x + other.x) / 2, y: (one.y + other.y) / 2 }
}

function spreadOf([one, other]: readonly Point[]): number {
  return one === undefined || other === undefined ? 0 : Math.hypot(one.x - other.x, one.y - other.y)
}
