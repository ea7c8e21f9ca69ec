/** How alike texts are, each with each: a square of cells in one hue, and the names of texts where there is room. */
import { useRef } from 'react'
import { useTheme } from '../../app/theme.ts'
import { ChartFrame, type ArrowKey, type ChartTable } from '../frame.tsx'
import { useWidth } from '../size.ts'
import { token, useCanvas } from './canvas.ts'
import { Mark } from './mark.tsx'
import { rampOf, rgbOf, stepOf, type HeatColours } from './ramp.ts'

export interface Cell {
  readonly row: number
  readonly column: number
}

interface HeatMapProps {
  readonly caption: string
  readonly texts: readonly string[]
  readonly groupOf: readonly number[]
  /** A square in the order as typed. */
  readonly cosines: Float32Array
  /** The same in the order, with one pixel a cell. */
  readonly image: ImageBitmap
  /** Which text stands where. */
  readonly order: ArrayLike<number>
  readonly low: number
  readonly high: number
  /** The chosen cell, by the places of two texts in the order. */
  readonly at: Cell | undefined
  readonly onAt: (cell: Cell | undefined) => void
  readonly onPin: (cell: Cell) => void
  readonly describe: (cell: Cell) => string
  readonly table: () => ChartTable
  readonly isTable: boolean
  readonly onTable: (isTable: boolean) => void
}

/** More names would be smaller than can be read. */
const MAX_NAMES = 48
const NAMES_WIDTH = 226
const MAX_HEIGHT = 582
/** Below it cells have no gaps, and the image of one pixel each is stretched. */
const SMALL_CELL = 9

export function HeatMap(props: HeatMapProps) {
  const { texts, groupOf, cosines, image, order, low, high, at, onAt } = props
  const [box, width] = useWidth<HTMLDivElement>()
  const theme = useTheme()
  const count = texts.length
  const hasNames = count <= MAX_NAMES && width > 480
  const side = Math.max(0, Math.min(width - (hasNames ? NAMES_WIDTH : 0), MAX_HEIGHT))
  const cell = count === 0 ? 0 : side / count
  const draw = (context: CanvasRenderingContext2D): void => {
    if (cell < SMALL_CELL) {
      context.imageSmoothingEnabled = false
      context.drawImage(image, 0, 0, side, side)
    } else drawCells(context, { cosines, order, low, high, cell, colours: heatColours(theme) })
    if (at) drawFrame(context, at, cell, token('ink'))
  }
  const canvas = useCanvas({ width: side, height: side }, draw, [cosines, image, at, cell, theme])
  const under = useRef<Cell>(undefined)
  const pointed = (event: React.PointerEvent): Cell => {
    const { left, top } = event.currentTarget.getBoundingClientRect()
    const place = (pixels: number): number => Math.min(count - 1, Math.max(0, Math.floor(pixels / cell)))
    return { row: place(event.clientY - top), column: place(event.clientX - left) }
  }
  const index = at && at.row * count + at.column
  const cellOf = (one: number): Cell => ({ row: Math.floor(one / count), column: one % count })
  return (
    <ChartFrame
      caption={props.caption}
      points={count * count}
      at={index}
      onAt={(next) => onAt(next === undefined ? undefined : cellOf(next))}
      walk={(arrow, from) => walked(arrow, from, count)}
      onEnter={(one) => props.onPin(cellOf(one))}
      describe={(one) => props.describe(cellOf(one))}
      table={props.table}
      isTable={props.isTable}
      onTable={props.onTable}
    >
      <div ref={box} className="flex justify-end" style={{ minHeight: side }}>
        {hasNames && <Names texts={texts} groupOf={groupOf} order={order} cell={cell} at={at} />}
        <canvas
          ref={canvas}
          aria-hidden
          className="block shrink-0"
          style={{ width: side, height: side }}
          onPointerMove={(event) => {
            const next = pointed(event)
            if (under.current?.row === next.row && under.current.column === next.column) return
            under.current = next
            onAt(next)
          }}
          onPointerLeave={() => {
            under.current = undefined
            onAt(undefined)
          }}
          onClick={() => under.current && props.onPin(under.current)}
        />
      </div>
    </ChartFrame>
  )
}

function Names({
  texts,
  groupOf,
  order,
  cell,
  at,
}: Pick<HeatMapProps, 'texts' | 'groupOf' | 'order' | 'at'> & { readonly cell: number }) {
  return (
    <ul aria-hidden className="min-w-0 flex-1 text-11 text-ink-2" style={{ maxWidth: NAMES_WIDTH }}>
      {Array.from(order, (text, place) => (
        <li
          key={text}
          className={`flex items-center justify-end gap-1.5 pr-2 ${
            at && (at.row === place || at.column === place) ? 'font-semibold text-ink' : ''
          }`}
          style={{ height: cell, lineHeight: `${cell}px` }}
        >
          <span className="truncate">{texts[text]}</span>
          <Mark group={groupOf[text] ?? -1} size={7} />
        </li>
      ))}
    </ul>
  )
}

function walked(arrow: ArrowKey, from: number | undefined, count: number): number {
  if (from === undefined) return 0
  const by = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -count, ArrowDown: count }[arrow]
  const isAtEdge =
    (arrow === 'ArrowLeft' && from % count === 0) || (arrow === 'ArrowRight' && from % count === count - 1)
  const next = from + by
  return isAtEdge || next < 0 || next >= count * count ? from : next
}

/** `theme` decides what the tokens are worth. */
export function heatColours(_theme: string): HeatColours {
  return {
    ramp: rampOf(rgbOf(token('sunken')), rgbOf(token('s1'))),
    own: rgbOf(token('line')),
  }
}

function drawCells(
  context: CanvasRenderingContext2D,
  {
    cosines,
    order,
    low,
    high,
    cell,
    colours,
  }: Pick<HeatMapProps, 'cosines' | 'order' | 'low' | 'high'> & {
    readonly cell: number
    readonly colours: HeatColours
  },
): void {
  const count = order.length
  for (let row = 0; row < count; row++)
    for (let column = 0; column < count; column++) {
      const value = cosines[order[row]! * count + order[column]!]!
      const colour = row === column ? colours.own : colours.ramp[stepOf(value, low, high)]!
      context.fillStyle = `rgb(${colour.join(' ')})`
      context.beginPath()
      context.roundRect(column * cell + 0.5, row * cell + 0.5, cell - 1, cell - 1, 2)
      context.fill()
    }
}

function drawFrame(
  context: CanvasRenderingContext2D,
  { row, column }: Cell,
  cell: number,
  ink: string,
): void {
  const size = Math.max(cell, 6)
  context.strokeStyle = ink
  context.lineWidth = 2
  context.beginPath()
  context.roundRect(column * cell - (size - cell) / 2, row * cell - (size - cell) / 2, size, size, 3)
  context.stroke()
}
