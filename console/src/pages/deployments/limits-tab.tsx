/** Calls at once against the limit over time, and what torana.yaml allows a minute. */
import { count, moment, whole } from '../../app/format.ts'
import { useNow } from '../../time/now.ts'
import { RangeControl } from '../../app/range-control.tsx'
import type { RangeSearch } from '../../time/range.ts'
import { Legend } from '../../charts/legend.tsx'
import { Meter } from '../../charts/meter.tsx'
import { Lines } from '../../charts/lines.tsx'
import type { Deployment } from '../../api/queries/deployments.ts'
import { Section } from '../../ui/page.tsx'
import { Problem } from '../../ui/problem.tsx'
import { words } from '../../words/words.ts'
import { useSlots } from './history.ts'

/** From here on a limit is near. */
const NEAR = 0.8

export function LimitsTab({ one, search }: { readonly one: Deployment; readonly search: RangeSearch }) {
  const { limits } = words.deployments
  const history = useSlots(one.id, search)
  const now = useNow()
  if (history.error !== null && history.data === undefined)
    return <Problem error={history.error} retry={history.retry} />
  const { slots } = history
  return (
    <div className="flex flex-col gap-6">
      <Section title={limits.concurrency} actions={<RangeControl search={search} usual="24h" bare />}>
        <p className="mb-2 text-12 text-ink-2">{one.limit_is_learnt ? limits.learnt : limits.set}</p>
        <Lines
          caption={limits.concurrencyCaption(
            whole(one.in_flight),
            one.limit === null ? limits.none : whole(one.limit),
          )}
          timesMs={slots.map((slot) => slot.atMs)}
          series={[
            {
              label: limits.limit,
              colour: 'ink-2',
              dash: 'dashed',
              step: true,
              values: slots.map((slot) => slot.limit),
            },
            {
              label: limits.inFlight,
              colour: 's1',
              step: true,
              fill: true,
              values: slots.map((slot) => slot.inFlight),
            },
          ]}
          valueText={(value) => whole(Math.round(value))}
          timeText={(ms) => moment(ms, now)}
          span={history}
          height={180}
        />
        <Legend
          className="mt-2"
          entries={[
            { label: limits.limit, colour: 'ink-2', mark: 'dashed' },
            { label: limits.inFlight, colour: 's1', mark: 'line' },
          ]}
        />
      </Section>
      <Section title={limits.rates}>
        {one.limits.length === 0 && (
          <p className="border-t border-line py-2 text-12 text-ink-2">{limits.noRates}</p>
        )}
        <ul>
          {one.limits.map(({ name, used, of }) => (
            <li key={name} className="flex items-center gap-3 border-t border-line py-1.5">
              <span className="w-24 shrink-0">{limits[name]}</span>
              <Meter share={used / of} colour={used / of >= NEAR ? 'warn' : 'ink-2'} className="flex-1" />
              <span className="w-36 text-right tabular-nums">
                {words.deployments.of(count(Math.round(used)), count(of))}
              </span>
            </li>
          ))}
        </ul>
      </Section>
    </div>
  )
}
