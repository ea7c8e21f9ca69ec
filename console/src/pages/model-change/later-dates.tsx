/** Dates beyond the timeline, models without one, and dates to look up. */
import { paths } from '../../app/paths.ts'
import { DataTable, type Column } from '../../ui/data-table.tsx'
import { TextLink } from '../../ui/link.tsx'
import { Section } from '../../ui/page.tsx'
import { PhoneRow } from '../../ui/phone-row.tsx'
import { words } from '../../words/words.ts'
import { endDay, Source } from './ending-words.tsx'
import { TIMELINE_DAYS, type Ending } from './endings.ts'

const { heads } = words.modelChange

const COLUMNS: readonly Column<Ending>[] = [
  {
    id: 'model',
    head: heads.model,
    width: 240,
    cell: ({ model }) => <span className="font-strong">{model}</span>,
  },
  { id: 'upstream', head: heads.upstream, width: 130, cell: ({ upstream }) => upstream },
  { id: 'successor', head: heads.successor, drop: 2, cell: ({ successor }) => successor ?? '–' },
  { id: 'source', head: heads.source, drop: 1, width: 190, cell: (one) => <Source ending={one} /> },
  { id: 'ends', head: heads.ends, width: 150, align: 'right', cell: endDay },
]

interface LaterDatesProps {
  readonly endings: readonly Ending[]
  /** Models without a date. Undefined: not known yet. */
  readonly undated: number | undefined
}

export function LaterDates({ endings, undated = 0 }: LaterDatesProps) {
  const say = words.modelChange
  const later = endings.filter(({ daysLeft }) => daysLeft > TIMELINE_DAYS)
  const old = endings.filter(({ oldDays }) => oldDays !== undefined)
  return (
    <Section title={say.later} className="max-w-232 gap-1 px-6 py-4 phone:px-4">
      <DataTable
        label={say.later}
        columns={COLUMNS}
        rows={later}
        rowKey={({ upstream, model }) => `${upstream} ${model}`}
        href={({ model }) => paths.model(model)}
        phoneRow={phoneRow}
        empty={null}
        fill={false}
        className="-mx-6 phone:-mx-4"
      />
      <p className="pt-2 text-12 text-ink-2">
        {undated > 0 && say.undated(undated)}{' '}
        {old.length > 0 && <span className="text-warn">{say.oldDates(old.length)}</span>}{' '}
        {old.some(({ daysLeft }) => daysLeft <= TIMELINE_DAYS) && (
          <TextLink to={paths.modelChange({ view: 'table' })}>{say.viewOld}</TextLink>
        )}
      </p>
    </Section>
  )
}

const phoneRow = (one: Ending) => (
  <PhoneRow title={one.model} end={endDay(one)} note={one.upstream} endNote={one.successor ?? ''} />
)
