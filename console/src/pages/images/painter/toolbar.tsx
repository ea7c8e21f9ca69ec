/** Tools of the mask, in the order of how often they are used. */
import {
  Brush as BrushIcon,
  Contrast,
  Eraser,
  Hash,
  Lasso,
  Redo2,
  SquareDashed,
  Trash2,
  Undo2,
  Upload,
  type LucideIcon,
} from 'lucide-react'
import { IconButton } from '../../../ui/button.tsx'
import { classes } from '../../../ui/classes.ts'
import { Kbd } from '../../../ui/kbd.tsx'
import { words } from '../../../words/words.ts'
import { FileButton } from '../../../ui/file-input.tsx'
import { MIN_DIAMETER, MAX_DIAMETER, type Brush, type Painting, type Tool } from './painting.ts'

const TOOLS: readonly (readonly [Tool, LucideIcon, key: string])[] = [
  ['brush', BrushIcon, 'B'],
  ['eraser', Eraser, 'E'],
  ['rectangle', SquareDashed, 'R'],
  ['lasso', Lasso, 'L'],
]

interface ToolbarProps {
  readonly painting: Painting
  readonly brush: Brush
  readonly onBrush: (change: Partial<Brush>) => void
  readonly onNumbers: () => void
  readonly onLoad: (file: File) => void
}

export function Toolbar({ painting, brush, onBrush, onNumbers, onLoad }: ToolbarProps) {
  const { tools } = words.images
  const { steps, stepsAhead } = painting.history
  return (
    <div
      role="toolbar"
      aria-label={tools.label}
      className="flex min-w-0 flex-wrap items-center gap-1 phone:gap-0.5 [&_button]:phone:size-11"
    >
      {TOOLS.map(([tool, Icon, key]) => (
        <IconButton
          key={tool}
          label={`${tools[tool]} (${key})`}
          aria-pressed={brush.tool === tool}
          className={classes(brush.tool === tool && 'bg-ink! text-surface!')}
          onClick={() => onBrush({ tool })}
        >
          <Icon size={16} aria-hidden />
        </IconButton>
      ))}
      <IconButton label={tools.numbers} onClick={onNumbers}>
        <Hash size={16} aria-hidden />
      </IconButton>
      <Line />
      <IconButton label={`${tools.invert} (I)`} onClick={() => painting.invert()}>
        <Contrast size={16} aria-hidden />
      </IconButton>
      <IconButton label={`${tools.clear} (⌫)`} disabled={painting.isBlank} onClick={() => painting.clear()}>
        <Trash2 size={16} aria-hidden />
      </IconButton>
      <FileButton
        label={tools.upload}
        accept="image/png,image/webp"
        onFiles={([file]) => file !== undefined && onLoad(file)}
        className="flex size-7 items-center justify-center rounded-control text-ink-2 hover:bg-hover hover:text-ink"
      >
        <Upload size={16} aria-hidden />
      </FileButton>
      <Line />
      <IconButton label={`${tools.undo} (Ctrl Z)`} disabled={steps === 0} onClick={() => painting.undo()}>
        <Undo2 size={16} aria-hidden />
      </IconButton>
      <IconButton
        label={`${tools.redo} (Ctrl Shift Z)`}
        disabled={stepsAhead === 0}
        onClick={() => painting.redo()}
      >
        <Redo2 size={16} aria-hidden />
      </IconButton>
      <Line />
      <label className="flex items-center gap-2 text-12 text-ink-2">
        <span className="phone:hidden">{tools.size}</span>
        <input
          type="range"
          aria-label={tools.size}
          aria-valuetext={tools.sizeOf(brush.diameter)}
          min={0}
          max={100}
          step={1}
          value={sliderOf(brush.diameter)}
          onChange={(event) => onBrush({ diameter: diameterOf(Number(event.target.value)) })}
          className="w-21 accent-ink"
        />
        <span className="w-7 tabular-nums">{brush.diameter}</span>
      </label>
      <span aria-hidden className="flex gap-1 phone:hidden">
        <Kbd>[</Kbd>
        <Kbd>]</Kbd>
      </span>
    </div>
  )
}

function Line() {
  return <span aria-hidden className="mx-1 h-5 w-px bg-line phone:hidden" />
}

const RANGE = Math.log(MAX_DIAMETER / MIN_DIAMETER)

/** Small brushes are chosen as finely as large ones. */
function sliderOf(diameter: number): number {
  return Math.round((Math.log(diameter / MIN_DIAMETER) / RANGE) * 100)
}

function diameterOf(slider: number): number {
  return Math.round(MIN_DIAMETER * Math.exp((slider / 100) * RANGE))
}
