/** How narrow vectors may be: a slider, and the curve that tells what each width keeps. */
import { useEffect, useRef } from 'react'
import type { Schema } from '../../api/client.ts'
import { bytes, share, whole } from '../../app/format.ts'
import { useWidth } from '../../charts/size.ts'
import { words } from '../../words/words.ts'
import { NEIGHBOURS } from '../../workers/vectors/neighbours.ts'
import type { WidthView } from './width-view.ts'

const HEIGHT = 52
const BYTES_A_NUMBER = 4
const SETTLED_MS = 300

interface DimensionsProps {
  readonly widthView: WidthView
  readonly model: Schema<'ModelRow'> | undefined
  readonly count: number
  /** The slider was released: the address may change now. */
  readonly onSettled: (width: number | undefined) => void
}

export function Dimensions({ widthView, model, count, onSettled }: DimensionsProps) {
  const { widths, at, view, curve } = widthView
  const say = words.embeddings.dimensions
  const [width, full] = [widths[at] ?? 0, widths.at(-1) ?? 0]
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  useEffect(() => () => clearTimeout(timer.current), [])
  const kept = view === undefined ? undefined : average(view.kept)
  const isOnlyToLook = model?.embedding?.narrower === 'none'
  return (
    <section aria-label={say.title} className="border-t border-line pt-3">
      <header className="flex flex-wrap items-center gap-x-2.5 gap-y-0.5 text-12">
        <h2 className="text-13 font-semibold">{say.title}</h2>
        <span className="text-13 font-semibold tabular-nums">{whole(width)}</span>
        <span className="text-ink-2" role="status">
          {say.keeps(share(kept))}
        </span>
        <span className="ml-auto text-ink-2 tabular-nums">
          {say.bytes(bytes(width * BYTES_A_NUMBER))}
          {width < full && say.not(bytes(full * BYTES_A_NUMBER))}
        </span>
      </header>
      <div className="relative mt-1.5">
        <Curve curve={curve} at={at} />
        <input
          type="range"
          aria-label={say.slider}
          aria-valuetext={say.value(width, share(kept))}
          min={0}
          max={Math.max(0, widths.length - 1)}
          step={1}
          value={at}
          className="vector-slider absolute inset-x-0 w-full"
          style={{ top: HEIGHT - 10, ...filled(at, widths.length) }}
          onChange={(event) => {
            const place = Number(event.target.value)
            widthView.choose(place)
            clearTimeout(timer.current)
            timer.current = setTimeout(
              () => onSettled(place === widths.length - 1 ? undefined : widths[place]),
              SETTLED_MS,
            )
          }}
        />
      </div>
      <Ticks widths={widths} at={at} />
      {isOnlyToLook && <p className="pt-1 text-12 text-warn">{say.refused}</p>}
      {count <= NEIGHBOURS + 1 && <p className="pt-1 text-12 text-ink-3">{say.few}</p>}
    </section>
  )
}

/** How far the line of the slider is ink. */
function filled(at: number, widths: number): React.CSSProperties {
  return { '--filled': `${(at / Math.max(1, widths - 1)) * 100}%` } as React.CSSProperties
}

function average(shares: Float64Array): number {
  return shares.length === 0 ? 1 : shares.reduce((sum, one) => sum + one, 0) / shares.length
}

/** The middle of the handle is eight from each end. */
const EDGE = 8

function Curve({ curve, at }: { readonly curve: WidthView['curve']; readonly at: number }) {
  const [ref, width] = useWidth<HTMLDivElement>()
  const say = words.embeddings.dimensions
  const x = (place: number): number =>
    curve.length < 2 ? width - EDGE : EDGE + (place / (curve.length - 1)) * (width - 2 * EDGE)
  const y = (kept: number): number => 4 + (1 - kept) * (HEIGHT - 8)
  const points = curve.flatMap((kept, place) => (kept === undefined ? [] : [[x(place), y(kept)] as const]))
  const line = points.map(([left, top]) => `${left.toFixed(1)} ${top.toFixed(1)}`).join('L')
  const here = curve[at]
  return (
    <div ref={ref} className="relative" style={{ height: HEIGHT + 12 }}>
      {width > 0 && (
        <svg width={width} height={HEIGHT} aria-hidden className="absolute inset-0 overflow-visible">
          <path d={`M${EDGE} ${y(0.9)}H${width - EDGE}`} stroke="var(--line-strong)" strokeDasharray="1 3" />
          {points.length > 1 && (
            <>
              <path
                d={`M${EDGE} ${HEIGHT}L${line}L${width - EDGE} ${HEIGHT}Z`}
                fill="var(--s1)"
                opacity="0.14"
              />
              <path d={`M${line}`} fill="none" stroke="var(--s1)" strokeWidth="1.5" />
              {points.map(([left, top]) => (
                <circle key={left} cx={left} cy={top} r="2" fill="var(--s1)" />
              ))}
            </>
          )}
          {here !== undefined && (
            <path d={`M${x(at)} ${y(here)}V${HEIGHT}`} stroke="var(--ink)" strokeDasharray="2 2" />
          )}
        </svg>
      )}
      <span
        className="pointer-events-none absolute left-2 bg-surface/80 text-11 text-ink-3"
        style={{ top: y(0.9) - 17 }}
      >
        {say.ninety}
      </span>
    </div>
  )
}

/** About six of the widths, and the chosen one. */
function Ticks({ widths, at }: { readonly widths: readonly number[]; readonly at: number }) {
  const last = widths.length - 1
  const places = Array.from({ length: 6 }, (_, tick) => Math.round((tick / 5) * last))
  const step = last / 5
  const shown = [
    ...new Set([...places.filter((place) => place === at || Math.abs(place - at) > step * 0.55), at]),
  ]
  return (
    <div aria-hidden className="relative h-4 text-12 text-ink-2 tabular-nums">
      {shown.map((place) => (
        <span
          key={place}
          className={place === at ? 'absolute font-semibold text-ink' : 'absolute'}
          style={
            place === last
              ? { right: 0 }
              : place === 0
                ? { left: 0 }
                : { left: `${(place / Math.max(1, last)) * 100}%`, transform: 'translateX(-50%)' }
          }
        >
          {whole(widths[place] ?? 0)}
        </span>
      ))}
    </div>
  )
}
