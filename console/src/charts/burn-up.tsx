/** What was spent of a budget against its even pace, and when it will be used up. */
import { useState } from 'react'
import { valueTicks, type TimeTick } from './axis.ts'
import { burnUpLayout, type BurnUpData } from './burn-up-layout.ts'
import { ChartFrame, type ChartTable } from './frame.tsx'
import { useWidth } from './size.ts'
import { Tip } from './tip.tsx'

interface BurnMark {
  readonly atMs: number
  readonly text: string
}

interface BurnUpProps extends BurnUpData {
  /** The finding, in a sentence. */
  readonly caption: string
  readonly marks: readonly BurnMark[]
  readonly ticks: readonly TimeTick[]
  readonly valueText: (value: number) => string
  readonly axisText: (value: number) => string
  readonly slotText: (atMs: number) => string
  readonly words: {
    readonly now: string
    readonly pace: string
    /** Above the moment at which it is used up. */
    readonly usedUp: string | undefined
    readonly spent: string
  }
  readonly height?: number
}

const AXIS_WIDTH = 70
const LABELS_HEIGHT = 22
const TOP = 60
const LINES = 5

export function BurnUp(props: BurnUpProps) {
  const { caption, marks, ticks, valueText, axisText, slotText, words, points, limit, height = 300 } = props
  const [ref, width] = useWidth<HTMLDivElement>()
  const [at, setAt] = useState<number>()
  const plotWidth = Math.max(0, width - AXIS_WIDTH)
  const plotHeight = height - LABELS_HEIGHT
  const layout = burnUpLayout(props, { width: plotWidth, height: plotHeight, top: TOP })
  const { x, y, now } = layout
  const scale = valueTicks(layout.most, LINES).filter((value) => value <= layout.most * 1.001)
  const usedUpMs = props.forecast?.usedUpMs
  const valueAt = (atMs: number): number => points.findLast((point) => point.atMs <= atMs)?.value ?? 0
  const describe = (index: number): string =>
    `${slotText(points[index]?.atMs ?? 0)}, ${valueText(points[index]?.value ?? 0)}`
  const table = (): ChartTable => ({
    heads: ['', words.spent],
    rows: points.map(({ atMs, value }) => [slotText(atMs), valueText(value)]),
  })
  const point = at === undefined ? undefined : points[at]
  return (
    <ChartFrame
      caption={caption}
      points={points.length}
      describe={describe}
      at={at}
      onAt={setAt}
      table={table}
    >
      <div
        ref={ref}
        onPointerLeave={() => setAt(undefined)}
        onPointerMove={(event) => {
          const left = event.clientX - event.currentTarget.getBoundingClientRect().left
          const atMs = props.fromMs + (left / Math.max(1, plotWidth)) * (props.toMs - props.fromMs)
          const index = points.findLastIndex((one) => one.atMs <= atMs)
          setAt(index < 0 || left > now.x + 4 ? undefined : index)
        }}
      >
        <svg width={width} height={height} className="block overflow-visible">
          {scale.map((value) => (
            <g key={value}>
              <path d={`M0 ${Math.round(y(value)) + 0.5}H${plotWidth}`} stroke="var(--line)" />
              {Math.abs(value - limit) > layout.most * 0.02 && (
                <text x={plotWidth + 8} y={y(value) + 4} className="fill-ink-3 text-11">
                  {axisText(value)}
                </text>
              )}
            </g>
          ))}
          <path d={layout.area} fill="var(--s1)" opacity="0.12" />
          {layout.band !== undefined && <path d={layout.band} fill="var(--s1)" opacity="0.18" />}
          <path d={layout.pace} stroke="var(--ink-3)" strokeDasharray="3 3" fill="none" />
          <text
            className="fill-ink-3 text-11"
            textAnchor="middle"
            transform={paceLabel(plotWidth, plotHeight, y(limit))}
          >
            {words.pace}
          </text>
          <path
            d={`M0 ${Math.round(y(limit)) + 0.5}H${plotWidth}`}
            stroke="var(--bad-fill)"
            strokeWidth="1.25"
          />
          <text x={plotWidth + 8} y={y(limit) + 4} className="fill-bad text-11 font-semibold">
            {axisText(limit)}
          </text>
          <path d={layout.line} stroke="var(--s1)" strokeWidth="2" fill="none" strokeLinejoin="round" />
          {layout.forecast !== undefined && (
            <path d={layout.forecast} stroke="var(--s1)" strokeWidth="2" strokeDasharray="2 3" fill="none" />
          )}
          {usedUpMs !== undefined && (
            <g>
              <path
                d={`M${x(usedUpMs)} ${y(limit)}V${plotHeight}`}
                stroke="var(--warn-fill)"
                strokeDasharray="2 3"
              />
              <circle cx={x(usedUpMs)} cy={y(limit)} r="4" fill="var(--warn-fill)" />
              <text
                x={x(usedUpMs) + (isFarRight(x(usedUpMs), plotWidth) ? -8 : 8)}
                y={y(limit) - 9}
                textAnchor={isFarRight(x(usedUpMs), plotWidth) ? 'end' : 'start'}
                className="fill-warn text-11 font-semibold"
              >
                {words.usedUp}
              </text>
            </g>
          )}
          {marks.map((mark) => (
            <g key={mark.text}>
              <circle
                cx={x(mark.atMs)}
                cy={y(valueAt(mark.atMs))}
                r="3.5"
                fill="var(--surface)"
                stroke="var(--ink-2)"
                strokeWidth="1.5"
              />
              <text x={x(mark.atMs) + 9} y={y(valueAt(mark.atMs)) + 15} className="fill-ink-2 text-11">
                {mark.text}
              </text>
            </g>
          ))}
          {points.length > 0 && (
            <>
              <circle cx={now.x} cy={now.y} r="3.5" fill="var(--s1)" />
              <text
                x={now.x - 8}
                y={now.y - 9}
                textAnchor={now.x < 80 ? 'start' : 'end'}
                className="fill-ink text-11 font-semibold"
              >
                {words.now}
              </text>
            </>
          )}
          {ticks.map((tick, index) => (
            <text
              key={tick.atMs}
              x={x(tick.atMs)}
              y={height - 3}
              textAnchor={index === 0 ? 'start' : x(tick.atMs) > plotWidth - 20 ? 'end' : 'middle'}
              className="fill-ink-3 text-11"
            >
              {tick.text}
            </text>
          ))}
        </svg>
        {point !== undefined && (
          <Tip
            x={x(point.atMs)}
            width={plotWidth}
            title={slotText(point.atMs)}
            lines={[{ label: words.spent, colour: 's1', value: valueText(point.value) }]}
          />
        )}
      </div>
    </ChartFrame>
  )
}

function isFarRight(x: number, width: number): boolean {
  return x > width - 190
}

/** Along the line, near its end. */
function paceLabel(width: number, height: number, limitY: number): string {
  const share = 0.84
  const angle = (Math.atan2(limitY - height, Math.max(1, width)) * 180) / Math.PI
  return `translate(${width * share} ${height + (limitY - height) * share - 6}) rotate(${angle})`
}
