/** The waterfall of one request: a row a step and a call, bars on one line of time. */
import { CornerDownRight } from 'lucide-react'
import type { ReactNode } from 'react'
import { duration } from '../../app/format.ts'
import { classes } from '../../ui/classes.ts'
import { words } from '../../words/words.ts'
import type { Bar, WaterfallCall, WaterfallLayout, WaterfallRow, WaterfallStep } from './layout.ts'

const TONE: Record<Bar['tone'], string> = {
  own: 'bg-ink-2',
  cache: 'bg-s3',
  upstream: 'bg-s1/35',
  answering: 'bg-s1',
  waited: 'hatched',
  failed: 'bg-warn-fill',
}

/** At a small size there is no room for two tones of one call. */
const SMALL_TONE = { ...TONE, upstream: 'bg-s1/75', answering: 'bg-s1/75' }

interface WaterfallProps<Step, Call> {
  readonly layout: WaterfallLayout<Step, Call>
  readonly nameOf: (row: WaterfallRow<Step, Call>) => string
  readonly noteOf: (row: WaterfallRow<Step, Call>) => ReactNode
  /** What happened to it, in a sentence: for those who do not see the picture. */
  readonly finding: string
}

const ROW = 'h-8'

export function Waterfall<Step extends WaterfallStep, Call extends WaterfallCall>({
  layout,
  nameOf,
  noteOf,
  finding,
}: WaterfallProps<Step, Call>) {
  const { rows, endMs, ticksMs } = layout
  return (
    <figure>
      <figcaption className="sr-only">{finding}</figcaption>
      {layout.lensMs !== undefined && <Lens layout={layout} lensMs={layout.lensMs} />}
      <div className="relative" role="table" aria-label={words.requests.waterfall.label}>
        <div role="row" className="flex h-8 items-center border-b border-line text-12 text-ink-2">
          <span role="columnheader" className="w-32 shrink-0">
            {words.requests.waterfall.step}
          </span>
          <span className="w-52 tight:w-28 shrink-0 phone:hidden" />
          <Axis ticksMs={ticksMs} endMs={endMs} />
          <span className="w-22 shrink-0" />
        </div>
        {rows.map((row) => (
          <div
            key={row.key}
            role="row"
            className={classes(
              'relative flex items-center border-b border-line',
              ROW,
              isFailed(row) && '-mx-6 bg-warn-tint px-6 text-warn',
            )}
          >
            <span role="cell" className="flex w-32 shrink-0 items-center gap-1.5 truncate">
              {row.call && (
                <CornerDownRight size={12} strokeWidth={2.25} aria-hidden className="text-ink-3" />
              )}
              <span className={classes('text-ink', row.call && 'font-medium')}>{nameOf(row)}</span>
            </span>
            <span
              role="cell"
              className="w-52 tight:w-28 shrink-0 truncate pr-3 text-12 text-ink-2 phone:hidden"
            >
              {noteOf(row)}
            </span>
            <Track row={row} endMs={endMs} ticksMs={ticksMs} />
            <span role="cell" className="w-22 shrink-0 text-right tabular-nums">
              {msText(row.durationMs)}
            </span>
          </div>
        ))}
        <Joints layout={layout} />
      </div>
    </figure>
  )
}

/** Always in milliseconds up to ten seconds, so that the column can be compared. */
function msText(ms: number): string {
  return ms < 999.5 && ms >= 9.95 ? `${ms.toFixed(1)} ms` : duration(ms)
}

function isFailed<Step, Call extends WaterfallCall>({ call }: WaterfallRow<Step, Call>): boolean {
  return call !== undefined && call.outcome !== 'ok'
}

function left(ms: number, endMs: number): string {
  return `${(ms / endMs) * 100}%`
}

function Axis({ ticksMs, endMs }: { readonly ticksMs: readonly number[]; readonly endMs: number }) {
  return (
    <span aria-hidden className="relative h-4 flex-1 text-11 tabular-nums text-ink-2">
      {ticksMs.map((ms, index) => (
        <span
          key={ms}
          className={classes('absolute whitespace-nowrap', index > 0 && '-translate-x-1/2')}
          style={{ left: left(ms, endMs) }}
        >
          {tickText(ms, endMs, index === ticksMs.length - 1)}
        </span>
      ))}
    </span>
  )
}

/** `0 50 100 … 250 ms`: the unit stands once, at the end. */
function tickText(ms: number, endMs: number, isLast: boolean): string {
  const inSeconds = endMs >= 5000
  const value = inSeconds ? ms / 1000 : ms
  return `${Number(value.toPrecision(3))}${isLast ? (inSeconds ? ' s' : ' ms') : ''}`
}

function Track<Step, Call extends WaterfallCall>({
  row,
  endMs,
  ticksMs,
}: {
  readonly row: WaterfallRow<Step, Call>
  readonly endMs: number
  readonly ticksMs: readonly number[]
}) {
  return (
    <span aria-hidden className="relative h-full min-w-0 flex-1">
      {ticksMs.map((ms) => (
        <span key={ms} className="absolute inset-y-0 w-px bg-line" style={{ left: left(ms, endMs) }} />
      ))}
      <Bars bars={row.bars} endMs={endMs} className="top-2.5 h-3" />
    </span>
  )
}

interface BarsProps {
  readonly bars: readonly Bar[]
  readonly endMs: number
  readonly className: string
  readonly tones?: typeof TONE
}

function Bars({ bars, endMs, className, tones = TONE }: BarsProps) {
  return bars.map((bar, index) => (
    <span
      key={bar.tone}
      className={classes(
        'absolute min-w-[2.5px]',
        className,
        tones[bar.tone],
        index === 0 && 'rounded-l-[2px]',
        index === bars.length - 1 && 'rounded-r-[2px]',
      )}
      style={{ left: left(bar.fromMs, endMs), width: left(bar.toMs - bar.fromMs, endMs) }}
    />
  ))
}

const HEAD_HEIGHT = 32
const ROW_HEIGHT = 32

function Joints<Step, Call>({ layout }: { readonly layout: WaterfallLayout<Step, Call> }) {
  const { joints, endMs } = layout
  if (joints.length === 0) return null
  return (
    <div aria-hidden className="pointer-events-none absolute inset-0 flex">
      <span className="w-32 shrink-0" />
      <span className="w-52 tight:w-28 shrink-0 phone:hidden" />
      <span className="relative flex-1">
        {joints.map(({ fromRow, toRow, atMs }) => (
          <span
            key={toRow}
            className="absolute w-px bg-warn-fill"
            style={{
              left: left(atMs, endMs),
              top: HEAD_HEIGHT + fromRow * ROW_HEIGHT + 22,
              height: (toRow - fromRow) * ROW_HEIGHT,
            }}
          />
        ))}
      </span>
      <span className="w-22 shrink-0" />
    </div>
  )
}

/** The beginning, enlarged: beside a picture that takes seconds, Torana's own steps would not be seen. */
function Lens<Step, Call>({
  layout,
  lensMs,
}: {
  readonly layout: WaterfallLayout<Step, Call>
  readonly lensMs: number
}) {
  const bars = layout.rows
    .flatMap((row) => row.bars)
    .filter(({ fromMs }) => fromMs < lensMs)
    .map((bar) => ({ ...bar, toMs: Math.min(bar.toMs, lensMs) }))
  return (
    <div className="flex items-center gap-3 border-b border-line py-2 text-12 text-ink-2">
      <span className="w-29 shrink-0">{words.requests.waterfall.lens(duration(lensMs))}</span>
      <span aria-hidden className="relative h-5 flex-1 rounded-chip bg-sunken">
        {bars.map((bar, index) => (
          <Bars key={index} bars={[bar]} endMs={lensMs} className="inset-y-1" />
        ))}
      </span>
    </div>
  )
}

export function WaterfallLegend({
  hasCache,
  hasAnswered,
  hasWaited,
  hasFailed,
}: Readonly<Record<'hasCache' | 'hasAnswered' | 'hasWaited' | 'hasFailed', boolean>>) {
  const { legend } = words.requests.waterfall
  const entries: readonly (readonly [Bar['tone'], string])[] = [
    ['own', legend.own],
    ...(hasCache ? [['cache', legend.cache] as const] : []),
    ...(hasAnswered ? [['answering', legend.upstream] as const] : []),
    ...(hasWaited ? [['waited', legend.waited] as const] : []),
    ...(hasFailed ? [['failed', legend.failed] as const] : []),
  ]
  return (
    <ul aria-hidden className="flex flex-wrap gap-x-4 gap-y-1 pt-2.5 text-12 text-ink-2">
      {entries.map(([tone, text]) => (
        <li key={tone} className="flex items-center gap-1.5">
          <span className={classes('h-2 w-3 rounded-[2px]', TONE[tone])} />
          {text}
        </li>
      ))}
    </ul>
  )
}

/** Small, in the peek and on a phone: names, bars, and the milliseconds beside each bar. */
export function SmallWaterfall<Step extends WaterfallStep, Call extends WaterfallCall>({
  layout,
  nameOf,
  noteOf,
  finding,
}: WaterfallProps<Step, Call>) {
  const { rows, endMs, ticksMs } = layout
  const lastTick = ticksMs.at(-1) ?? endMs
  return (
    <figure>
      <figcaption className="sr-only">{finding}</figcaption>
      <div className="flex">
        <ul className="w-26 shrink-0 text-12">
          {rows.map((row) => (
            <li key={row.key} className="flex h-6 items-center truncate">
              {nameOf(row)}
            </li>
          ))}
        </ul>
        <div aria-hidden className="relative min-w-0 flex-1">
          {ticksMs.map((ms) => (
            <span
              key={ms}
              className="absolute top-0 bottom-6 w-px bg-line"
              style={{ left: left(ms, endMs) }}
            />
          ))}
          {rows.map((row) => {
            const end = (row.startMs + row.durationMs) / endMs
            const note = noteOf(row)
            const isLate = end > 0.86
            const place = left(isLate ? row.startMs : row.startMs + row.durationMs, endMs)
            return (
              <div key={row.key} className="relative h-6">
                <Bars bars={row.bars} endMs={endMs} className="top-[7px] h-2.5" tones={SMALL_TONE} />
                <span
                  className={classes(
                    'absolute top-1 truncate text-11 tabular-nums',
                    isFailed(row) ? 'text-warn' : 'text-ink-2',
                    isLate ? '-translate-x-full pr-1.5' : 'pl-1.5',
                  )}
                  style={{ left: place, maxWidth: isLate ? undefined : `calc(100% - ${place})` }}
                >
                  {smallText(row.durationMs)}
                  {isFailed(row) && note !== null && <> · {note}</>}
                </span>
              </div>
            )
          })}
          <span className="relative block h-6 text-11 tabular-nums text-ink-2">
            {ticksMs.map((ms) => (
              <span
                key={ms}
                className="absolute top-1.5 -translate-x-1/2 whitespace-nowrap"
                style={{ left: left(ms, endMs) }}
              >
                {tickText(ms, endMs, ms === lastTick)}
              </span>
            ))}
          </span>
        </div>
      </div>
    </figure>
  )
}

function smallText(ms: number): string {
  return ms < 10 ? ms.toFixed(1) : ms < 9995 ? ms.toFixed(0) : `${(ms / 1000).toFixed(1)} s`
}
