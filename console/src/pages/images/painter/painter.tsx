/** The mask painter: tools, the board, and a line that says what is sent. */
import { CircleCheck, Maximize, Minus, Plus } from 'lucide-react'
import { useState, useSyncExternalStore, type CSSProperties, type ReactNode } from 'react'
import { share } from '../../../app/format.ts'
import { IconButton } from '../../../ui/button.tsx'
import { Kbd } from '../../../ui/kbd.tsx'
import { useKeys } from '../../../ui/keyboard.ts'
import { toast } from '../../../ui/toast.tsx'
import { words } from '../../../words/words.ts'
import { readMask } from '../../../workers/pixels.ts'
import { Board, type BoardHandle } from './board.tsx'
import { MIN_DIAMETER, MAX_DIAMETER, type Brush, type Painting } from './painting.ts'
import { RectangleDialog } from './rectangle-dialog.tsx'
import { Toolbar } from './toolbar.tsx'

interface PainterProps {
  readonly painting: Painting
  readonly image: ImageBitmap
  readonly brush: Brush
  readonly onBrush: (change: Partial<Brush>) => void
  /** The choice of the view, beside the tools. */
  readonly views: ReactNode
}

const ZOOM_STEP = 1.25
const BRUSH_STEP = 1.1

export function Painter({ painting, image, brush, onBrush, views }: PainterProps) {
  useSyncExternalStore(painting.subscribe, painting.version)
  const [isRectangleOpen, setRectangleOpen] = useState(false)
  const [scale, setScale] = useState(1)
  const [board, setBoard] = useState<BoardHandle>()
  const text = words.images
  usePainterKeys({ painting, brush, onBrush, board })
  const load = async (file: File): Promise<void> => {
    const { width, height } = painting.size
    try {
      const { mask, hasTransparent } = await readMask(file)
      if (mask.width !== width || mask.height !== height)
        toast(text.maskSize(`${mask.width} × ${mask.height}`, `${width} × ${height}`), { mark: 'bad' })
      else if (!hasTransparent) toast(text.maskOpaque, { mark: 'warn' })
      else painting.load(mask)
    } catch {
      toast(text.unreadable(file.name), { mark: 'bad' })
    }
  }
  return (
    <section aria-label={text.mask} className="flex min-h-0 flex-1 flex-col">
      <header className="flex min-h-11 shrink-0 flex-wrap items-center gap-x-3 gap-y-1 border-b border-line px-4 py-1.5 phone:order-1 phone:border-t">
        <Toolbar
          painting={painting}
          brush={brush}
          onBrush={onBrush}
          onNumbers={() => setRectangleOpen(true)}
          onLoad={(file) => void load(file)}
        />
        <div className="ml-auto flex items-center gap-2">
          {views}
          <span className="flex items-center phone:hidden">
            <IconButton label={text.tools.zoomOut} onClick={() => board?.zoom(1 / ZOOM_STEP)}>
              <Minus size={15} aria-hidden />
            </IconButton>
            <span className="w-10 text-center text-12 tabular-nums">{share(scale, 0)}</span>
            <IconButton label={text.tools.zoomIn} onClick={() => board?.zoom(ZOOM_STEP)}>
              <Plus size={15} aria-hidden />
            </IconButton>
            <IconButton label={text.tools.fit} onClick={() => board?.fit()}>
              <Maximize size={15} aria-hidden />
            </IconButton>
          </span>
        </div>
      </header>
      <div
        className="flex min-h-0 flex-1 flex-col px-5 pt-3.5 phone:aspect-(--ratio) phone:max-h-[60dvh] phone:flex-none phone:px-0 phone:pt-0"
        style={{ '--ratio': painting.size.width / painting.size.height } as CSSProperties}
      >
        <Board painting={painting} image={image} brush={brush} onScale={setScale} onReady={setBoard} />
      </div>
      <Status painting={painting} />
      {isRectangleOpen && <RectangleDialog painting={painting} onClose={() => setRectangleOpen(false)} />}
    </section>
  )
}

function Status({ painting }: { readonly painting: Painting }) {
  const text = words.images
  const { width, height } = painting.size
  const { dropped, steps } = painting.history
  return (
    <p className="flex min-h-9 flex-wrap items-center gap-x-4 px-5 text-12 text-ink-2 phone:order-2 phone:px-4">
      <span className="tabular-nums">
        {width} × {height}
      </span>
      <span role="status">
        {text.painted}{' '}
        <strong className="font-semibold text-ink tabular-nums">
          {share(painting.painted / (width * height))}
        </strong>
      </span>
      <span className="flex items-center gap-1.5">
        {!painting.isBlank && <CircleCheck size={14} aria-hidden className="text-good" />}
        {painting.isBlank ? text.nothingPainted : text.sentAs}
      </span>
      {dropped > 0 && <span>{text.undoDropped(steps)}</span>}
      <span aria-hidden className="ml-auto flex items-center gap-1 phone:hidden">
        <Kbd>space</Kbd> {text.moves}, <Kbd>X</Kbd> {text.erases}
      </span>
    </p>
  )
}

interface PainterKeys {
  readonly painting: Painting
  readonly brush: Brush
  readonly onBrush: (change: Partial<Brush>) => void
  readonly board: BoardHandle | undefined
}

function usePainterKeys({ painting, brush, onBrush, board }: PainterKeys): void {
  const resize = (factor: number) => () => {
    const step = factor > 1 ? Math.ceil : Math.floor
    onBrush({ diameter: Math.min(MAX_DIAMETER, Math.max(MIN_DIAMETER, step(brush.diameter * factor))) })
  }
  useKeys({
    b: () => onBrush({ tool: 'brush' }),
    e: () => onBrush({ tool: 'eraser' }),
    x: () => onBrush({ tool: brush.tool === 'brush' ? 'eraser' : 'brush' }),
    r: () => onBrush({ tool: 'rectangle' }),
    l: () => onBrush({ tool: 'lasso' }),
    i: () => painting.invert(),
    '[': resize(1 / BRUSH_STEP),
    ']': resize(BRUSH_STEP),
    Backspace: () => painting.clear(),
    'mod+z': (event) => (event.shiftKey ? painting.redo() : painting.undo()),
    'mod+=': () => board?.zoom(ZOOM_STEP),
    'mod++': () => board?.zoom(ZOOM_STEP),
    'mod+-': () => board?.zoom(1 / ZOOM_STEP),
    'mod+0': () => board?.fit(),
  })
}
