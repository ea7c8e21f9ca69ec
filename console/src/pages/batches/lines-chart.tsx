/** Lines done over time, from when the batch was made to its end. */
import type { BatchDetail } from '../../api/queries/batches.ts'
import { clock, clockSeconds, count, day, duration, whole } from '../../app/format.ts'
import { Columns } from '../../charts/columns.tsx'
import { DAY_MS } from '../../time/day.ts'
import { Section } from '../../ui/page.tsx'
import { words } from '../../words/words.ts'
import { doneOf } from './progress.ts'

export function LinesChart({ batch }: { readonly batch: BatchDetail }) {
  const { slot_ms: slotMs, lines } = batch.series
  const say = words.batches
  const fromMs = Date.parse(batch.created_at)
  const slots = lines.map((_, index) => fromMs + index * slotMs)
  const toMs = fromMs + lines.length * slotMs
  const text = (ms: number): string =>
    toMs - fromMs > DAY_MS ? `${day(ms)} ${clock(ms)}` : slotMs < 60_000 ? clockSeconds(ms) : clock(ms)
  const most = Math.max(0, ...lines)
  return (
    <Section title={say.chart}>
      <Columns
        caption={say.chartFinding(whole(doneOf(batch)), whole(most), duration(slotMs))}
        slots={slots}
        slotMs={slotMs}
        series={[{ label: say.chart, colour: 's1', values: lines }]}
        valueText={whole}
        axisText={count}
        slotText={text}
        height={150}
        gap={0.15}
      />
    </Section>
  )
}
