/** How requests ended over time, above the list. */
import type { Histogram as Counts } from '../../api/queries/requests.ts'
import { clock, count, day, whole } from '../../app/format.ts'
import { OUTCOME_COLOUR, OUTCOMES, type Outcome } from '../../charts/colours.ts'
import { Columns } from '../../charts/columns.tsx'
import { DAY_MS } from '../../time/day.ts'
import { classes } from '../../ui/classes.ts'
import { STALE } from '../../ui/loading.tsx'
import { Problem } from '../../ui/problem.tsx'
import { words } from '../../words/words.ts'

interface RequestHistogramProps {
  readonly histogram: Counts | undefined
  /** The counts are of an earlier filter. */
  readonly isStale?: boolean
  readonly error: unknown
  readonly marked: { readonly fromMs: number; readonly toMs: number } | undefined
  readonly onMark: (range: { readonly fromMs: number; readonly toMs: number } | undefined) => void
  readonly height?: number
}

const HEIGHT = 80

type OutcomeSlot = { readonly atMs: number } & Readonly<Record<Outcome, number>>

export function RequestHistogram({
  histogram,
  isStale = false,
  error,
  marked,
  onMark,
  height = HEIGHT,
}: RequestHistogramProps) {
  if (histogram === undefined)
    return (
      <div className="shrink-0 px-6 pt-2 pb-2 phone:px-4" style={{ minHeight: height }}>
        {error === null || error === undefined ? null : <Problem error={error} />}
      </div>
    )
  const slots = slotsOf(histogram)
  const spanMs = (slots.at(-1)?.atMs ?? 0) - (slots[0]?.atMs ?? 0)
  const failed = slots.reduce((sum, slot) => sum + slot.failed, 0)
  return (
    <div className={classes('shrink-0 px-6 pt-2 pb-2 phone:px-4', isStale && STALE)}>
      <Columns
        caption={words.requests.histogram(count(histogram.total), count(failed))}
        slots={slots.map(({ atMs }) => atMs)}
        slotMs={histogram.slot_seconds * 1000}
        series={OUTCOMES.map((outcome) => ({
          label: words.requests.outcomes[outcome],
          colour: OUTCOME_COLOUR[outcome],
          values: slots.map((slot) => slot[outcome]),
        }))}
        brush={{ marked, onMark }}
        valueText={whole}
        slotText={(ms) => (spanMs > DAY_MS ? `${day(ms)} ${clock(ms)}` : clock(ms))}
        height={height}
        gap={0.15}
      />
    </div>
  )
}

function slotsOf({ data }: Counts): readonly OutcomeSlot[] {
  return data.map(({ at, ...counts }) => ({ atMs: Date.parse(at), ...counts }))
}

/** `10,241 in the marked time`. */
export function RangeCount({
  histogram,
  marked,
}: {
  readonly histogram: Counts | undefined
  readonly marked: RequestHistogramProps['marked']
}) {
  if (histogram === undefined) return null
  const { capped_at: capped } = histogram
  const text = words.requests
  const shown =
    marked === undefined
      ? text.inRange(whole(histogram.total))
      : text.marked(whole(countIn(slotsOf(histogram), marked)))
  return (
    <span className="text-12 tabular-nums text-ink-2">
      {shown}
      {capped !== null && `, ${text.capped(`${day(capped)} ${clock(capped)}`)}`}
    </span>
  )
}

function countIn(
  slots: readonly OutcomeSlot[],
  { fromMs, toMs }: { readonly fromMs: number; readonly toMs: number },
): number {
  return slots
    .filter(({ atMs }) => atMs >= fromMs && atMs < toMs)
    .reduce(
      (sum, { answered, refused, limited, failed, unknown }) =>
        sum + answered + refused + limited + failed + unknown,
      0,
    )
}
