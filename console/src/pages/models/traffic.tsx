/** How a model goes: the last hour, how its requests ended over time, and a week of cells. */
import type { Schema } from '../../api/client.ts'
import { count, duration } from '../../app/format.ts'
import { paths } from '../../app/paths.ts'
import type { RangeSearch } from '../../time/range.ts'
import { Cells } from '../../charts/cells.tsx'
import { OutcomesOf } from '../../parts/requests/requests-of.tsx'
import { Figures } from '../../ui/figures.tsx'
import { TextLink } from '../../ui/link.tsx'
import { words } from '../../words/words.ts'
import { troubles } from './row-words.ts'

type Model = Schema<'ModelDetail'>

interface TrafficProps {
  readonly model: Model
  readonly search: RangeSearch
}

export function Traffic({ model, search }: TrafficProps) {
  const { detail } = words.models
  const { last_hour: hour, last_day: day } = model
  return (
    <div className="flex flex-col gap-4 py-5">
      <Figures
        className="px-6 phone:px-4"
        figures={[
          {
            name: detail.trafficHour,
            value: count(hour.requests),
            note: (
              <TextLink to={paths.requests({ model: model.id, since: '1h' })}>{detail.itsRequests}</TextLink>
            ),
          },
          {
            name: detail.failed,
            value: count(hour.failed),
            note:
              hour.failed > 0 ? (
                <TextLink to={paths.requests({ model: model.id, since: '1h', outcome: 'failed' })}>
                  {detail.itsRequests}
                </TextLink>
              ) : undefined,
          },
          { name: detail.p95, value: duration(hour.p95_ms) },
          { name: detail.trafficDay, value: count(day.requests) },
        ]}
      />
      <OutcomesOf of={{ model: model.id }} search={search} height={200} />
      <div className="px-6 phone:px-4">
        <p className="mb-2 text-12 text-ink-3">{detail.week}</p>
        <Cells
          cells={model.cells}
          label={words.models.cells(troubles(model.cells))}
          cellWidth={12}
          height={28}
        />
      </div>
    </div>
  )
}
