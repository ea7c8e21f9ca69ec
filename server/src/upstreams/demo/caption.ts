/** The strip at the bottom of an edited image: the prompt, and what was given. */
import type { PixelSize } from '#core/catalog/catalog.ts'
import { Canvas, CELL_HEIGHT, CELL_WIDTH, groundOf, wrapped } from './drawing.ts'

export interface Caption {
  readonly prompt: string
  /** Text below in smaller letters: the first of these that fits. */
  readonly notes: readonly string[]
  /** 0 to 1: the share of the prompt written so far. */
  readonly progress: number
}

/** Pixels of the shorter edge per dot of a letter. */
const PIXELS_PER_DOT = 320
const MAX_LINES = 3
/** Largest share of the image's height: people want to see the image. */
const MAX_SHARE = 0.4
/** Shortest line worth reading. */
const MIN_COLUMNS = 8
const PANEL = [17, 17, 22, 226] as const
const INK = [250, 250, 250, 255] as const
const FAINT_INK = [176, 180, 192, 255] as const

/** Undefined when the image is too small for a line. */
export function captionOf(caption: Caption, size: PixelSize): Canvas | undefined {
  const preferred = Math.max(1, Math.round(Math.min(size.width, size.height) / PIXELS_PER_DOT))
  for (let dot = preferred; dot >= 1; dot -= 1) {
    for (let most = MAX_LINES; most >= 1; most -= 1) {
      const layout = layoutOf(caption, size.width, { dot, most })
      if (layout && layout.height <= size.height * MAX_SHARE) return written(caption, size.width, layout)
    }
  }
  return undefined
}

interface Layout {
  readonly dot: number
  readonly padding: number
  readonly lines: readonly string[]
  readonly note: { readonly text: string; readonly dot: number } | undefined
  readonly height: number
}

function layoutOf(
  { prompt, notes }: Caption,
  width: number,
  { dot, most }: { readonly dot: number; readonly most: number },
): Layout | undefined {
  const padding = 6 * dot
  const inner = width - 2 * padding
  const columns = Math.floor(inner / (CELL_WIDTH * dot))
  if (columns < MIN_COLUMNS) return undefined
  const lines = shortened(prompt, columns, most)
  const note = noteOf(notes, inner, dot)
  const noteHeight = note === undefined ? 0 : CELL_HEIGHT * note.dot + 3 * dot
  return { dot, padding, lines, note, height: 2 * padding + lines.length * lineHeight(dot) + noteHeight }
}

/** As large as the letters above, or a little smaller where there is less space. */
function noteOf(notes: readonly string[], inner: number, largest: number): Layout['note'] {
  for (const text of notes) {
    for (let dot = largest; dot >= Math.ceil(largest / 2); dot -= 1)
      if (text.length * CELL_WIDTH * dot <= inner) return { text, dot }
  }
  return undefined
}

function shortened(text: string, columns: number, most: number): readonly string[] {
  const lines = wrapped(text, columns)
  if (lines.length <= most) return lines
  const last = lines[most - 1] ?? ''
  return [...lines.slice(0, most - 1), `${last.slice(0, columns - 3)}...`]
}

function written({ prompt, progress }: Caption, width: number, layout: Layout): Canvas {
  const { dot, padding, lines, note, height } = layout
  const canvas = new Canvas(width, height, PANEL)
  // The colour that a picture of this prompt alone would have.
  const colour = groundOf({ text: prompt, isTransparent: false })
  canvas.paint({ left: 0, top: 0, width, height: dot, colour })
  let left = Math.ceil(lines.join('').length * progress)
  for (const [index, line] of lines.entries()) {
    const top = padding + dot + index * lineHeight(dot)
    canvas.write(line.slice(0, Math.max(0, left)), padding, top, { dot, ink: INK })
    left -= line.length
  }
  if (note)
    canvas.write(note.text, padding, height - padding - (CELL_HEIGHT - 2) * note.dot, {
      dot: note.dot,
      ink: FAINT_INK,
    })
  return canvas
}

function lineHeight(dot: number): number {
  return (CELL_HEIGHT + 1) * dot
}
