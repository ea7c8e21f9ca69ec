/** How many of each outcome, slot by slot. Dragging, or `shift` with the arrow keys, marks a range of time. */
import { useMemo, useState, type PointerEvent } from 'react'
import { words } from '../words/words.ts'
import { brushIn, brushOf, type Brush } from './brush.ts'
import { endTicks } from './axis.ts'
import { OUTCOME_COLOUR, OUTCOMES, paint, type Outcome } from './colours.ts'
import { ChartFrame } from './frame.tsx'
import { useWidth } from './size.ts'
import { stacked, tallest } from './stack.ts'
import { Tip } from './tip.tsx'

export type OutcomeSlot = { readonly atMs: number } & Readonly<Record<Outcome, number>>

interface HistogramProps {
  readonly caption: string
  readonly slots: readonly OutcomeSlot[]
  readonly slotMs: number
  /** The marked range, if it is narrower than the whole. */
  readonly marked?: { readonly fromMs: number; readonly toMs: number } | undefined
  /** Undefined: the mark is taken away. */
  readonly onMark: (range: { readonly fromMs: number; readonly toMs: number } | undefined) => void
  readonly timeText: (ms: number) => string
  readonly outcomeText: Readonly<Record<Outcome, string>>
  readonly height?: number
}

const LABELS_HEIGHT = 20

export function Histogram({
  caption,
  slots,
  slotMs,
  marked,
  onMark,
  timeText,
  outcomeText,
  height = 80,
}: HistogramProps) {
  const [ref, width] = useWidth<HTMLDivElement>()
  const [at, setAt] = useState<number>()
  const [begun, setBegun] = useState<number>()
  const columns = useMemo(() => slots.map((slot) => OUTCOMES.map((outcome) => slot[outcome])), [slots])
  const parts = useMemo(() => stacked(columns), [columns])
  const most = Math.max(1, tallest(columns))
  const plotHeight = height - LABELS_HEIGHT
  const pitch = slots.length === 0 ? 0 : width / slots.length
  const barWidth = Math.max(0.75, pitch - (pitch > 4 ? 1.5 : pitch > 2 ? 0.75 : 0))
  const starts = useMemo(() => slots.map(({ atMs }) => atMs), [slots])
  const kept = marked && brushIn(marked.fromMs, marked.toMs, starts, slotMs)
  const brush = begun !== undefined && at !== undefined ? brushOf(begun, at) : kept
  const slotAt = (event: PointerEvent<SVGSVGElement>): number => {
    const { left } = event.currentTarget.getBoundingClientRect()
    return Math.min(slots.length - 1, Math.max(0, Math.floor((event.clientX - left) / pitch)))
  }
  const mark = ({ first, last }: Brush): void => {
    const [from, to] = [starts[first], starts[last]]
    if (from !== undefined && to !== undefined) onMark({ fromMs: from, toMs: to + slotMs })
  }
  const describe = (slot: number): string =>
    [
      timeText(starts[slot] ?? 0),
      ...OUTCOMES.flatMap((outcome) =>
        (slots[slot]?.[outcome] ?? 0) > 0 ? `${outcomeText[outcome]} ${slots[slot]?.[outcome]}` : [],
      ),
    ].join(', ')
  const [startMs, endMs] = [starts[0] ?? 0, (starts.at(-1) ?? 0) + slotMs]
  return (
    <ChartFrame
      caption={caption}
      points={slots.length}
      describe={describe}
      at={at}
      onAt={(next) => {
        setAt(next)
        if (next === undefined) setBegun(undefined)
      }}
      // The first `↵` begins a mark, the second ends it.
      onEnter={(slot) => {
        if (begun === undefined) setBegun(slot)
        else {
          mark(brushOf(begun, slot))
          setBegun(undefined)
        }
      }}
      table={() => ({
        heads: ['', ...OUTCOMES.map((outcome) => outcomeText[outcome])],
        rows: slots.map((slot) => [timeText(slot.atMs), ...OUTCOMES.map((outcome) => slot[outcome])]),
      })}
    >
      <div ref={ref}>
        <svg
          width={width}
          height={height}
          className="block cursor-crosshair touch-pan-y select-none"
          onPointerDown={(event) => {
            event.currentTarget.setPointerCapture(event.pointerId)
            setBegun(slotAt(event))
            setAt(slotAt(event))
          }}
          onPointerMove={(event) => setAt(slotAt(event))}
          onPointerUp={(event) => {
            const done = begun === undefined ? undefined : brushOf(begun, slotAt(event))
            setBegun(undefined)
            // A click marks nothing: it takes the mark away.
            if (done !== undefined && done.first !== done.last) mark(done)
            else if (kept) onMark(undefined)
          }}
          onPointerLeave={() => begun === undefined && setAt(undefined)}
        >
          <path d={`M0 ${plotHeight - 0.5}H${width}`} stroke="var(--line)" />
          {parts.map((column, slot) =>
            column.map(({ series, from, to }) => (
              <rect
                key={`${slot} ${series}`}
                x={slot * pitch}
                y={plotHeight - (to / most) * (plotHeight - 4)}
                width={barWidth}
                height={Math.max(1, ((to - from) / most) * (plotHeight - 4))}
                fill={paint(OUTCOME_COLOUR[OUTCOMES[series] ?? 'answered'])}
              />
            )),
          )}
          {brush && <BrushView brush={brush} pitch={pitch} height={plotHeight} />}
          {endTicks(startMs, endMs, 4, timeText).map((tick, index, all) => (
            <text
              key={tick.atMs}
              x={(width * index) / (all.length - 1)}
              y={height - 3}
              textAnchor={index === 0 ? 'start' : index === all.length - 1 ? 'end' : 'middle'}
              className="fill-ink-3 text-11"
            >
              {tick.text}
            </text>
          ))}
        </svg>
        {at !== undefined && begun === undefined && slots[at] !== undefined && (
          <Tip
            x={(at + 0.5) * pitch}
            width={width}
            title={timeText(starts[at] ?? 0)}
            lines={OUTCOMES.flatMap((outcome) => {
              const value = slots[at]?.[outcome] ?? 0
              return value > 0
                ? [{ label: outcomeText[outcome], colour: OUTCOME_COLOUR[outcome], value }]
                : []
            })}
          />
        )}
      </div>
      {kept && (
        <button type="button" className="sr-only focus:not-sr-only" onClick={() => onMark(undefined)}>
          {words.ui.clear}
        </button>
      )}
    </ChartFrame>
  )
}

function BrushView({
  brush,
  pitch,
  height,
}: {
  readonly brush: Brush
  readonly pitch: number
  readonly height: number
}) {
  const [x, end] = [brush.first * pitch, (brush.last + 1) * pitch]
  return (
    <g pointerEvents="none">
      <rect x={x} y={0} width={end - x} height={height} fill="var(--accent)" opacity="0.12" />
      <path d={`M${x + 1} 0V${height}M${end - 1} 0V${height}`} stroke="var(--accent)" strokeWidth="2" />
    </g>
  )
}
