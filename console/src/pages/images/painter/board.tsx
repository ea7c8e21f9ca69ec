/** The image with its mask over it, and everything that a pointer or a keyboard does to the mask. */
import { useEffect, useEffectEvent, useRef, useState } from 'react'
import { words } from '../../../words/words.ts'
import type { View } from '../../../workers/pixels/overlay.ts'
import { useBoardKeys } from './board-keys.ts'
import { usePointers } from './board-pointers.ts'
import { BoardScreen } from './board-screen.ts'
import type { Brush, Painting } from './painting.ts'
import { fitted } from './view.ts'

export interface BoardHandle {
  readonly zoom: (factor: number) => void
  readonly fit: () => void
}

interface BoardProps {
  readonly painting: Painting
  readonly image: ImageBitmap
  readonly brush: Brush
  /** For the zoom shown in the bar. */
  readonly onScale: (scale: number) => void
  /** What the buttons outside do to it. */
  readonly onReady: (handle: BoardHandle) => void
}

export function Board({ painting, image, brush, onScale, onReady }: BoardProps) {
  const frame = useRef<HTMLDivElement>(null)
  const imageCanvas = useRef<HTMLCanvasElement>(null)
  const maskCanvas = useRef<HTMLCanvasElement>(null)
  const ring = useRef<HTMLDivElement>(null)
  const [screen, setScreen] = useState<BoardScreen>()
  const [cursor, setCursor] = useState<string>()
  const report = useEffectEvent(onScale)
  const offer = useEffectEvent(onReady)

  useEffect(() => {
    const [around, below, above, circle] = [
      frame.current,
      imageCanvas.current,
      maskCanvas.current,
      ring.current,
    ]
    if (around === null || below === null || above === null || circle === null) return
    const made = new BoardScreen({
      frame: around,
      image,
      imageCanvas: below,
      maskCanvas: above,
      ring: circle,
      painting,
      onView: ({ scale }: View) => report(scale / devicePixelRatio),
    })
    setScreen(made)
    return () => made.close()
  }, [painting, image])

  useEffect(() => {
    if (screen === undefined) return
    offer({
      zoom: (factor) => screen.zoomMiddle(factor),
      fit: () => screen.look(fitted(painting.size, screen.size)),
    })
  }, [screen, painting])

  const pointers = usePointers({ screen, painting, brush, frame })
  const keys = useBoardKeys({ screen, painting, brush, setCursor })
  return (
    <div
      ref={frame}
      role="application"
      aria-label={words.images.canvas}
      tabIndex={0}
      className="relative min-h-0 flex-1 touch-none overflow-hidden outline-offset-[-2px] select-none"
      style={{ cursor: brush.tool === 'brush' || brush.tool === 'eraser' ? 'none' : 'crosshair' }}
      {...pointers}
      {...keys}
    >
      <canvas ref={imageCanvas} className="absolute inset-0 size-full" />
      <canvas ref={maskCanvas} className="absolute inset-0 size-full" />
      <div
        ref={ring}
        aria-hidden
        className="pointer-events-none absolute top-0 left-0 rounded-full border border-[#111] opacity-0 outline outline-[#fff]"
      />
      <span className="sr-only" role="status">
        {cursor}
      </span>
    </div>
  )
}
