/** Which models end, when, and who still uses them. */
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { ChartNoAxesGantt, Table2, type LucideIcon } from 'lucide-react'
import { modelQueries } from '../../api/queries/models.ts'
import { useChangeSearch } from '../../app/change-search.ts'
import { count, day, dayWithYear } from '../../app/format.ts'
import { paths } from '../../app/paths.ts'
import type { SearchOf } from '../../app/place.ts'
import {
  TimelineChart,
  type TimelineColumn,
  type TimelineRow,
} from '../../charts/timeline/timeline-chart.tsx'
import { DAY_MS, daysUntil } from '../../time/day.ts'
import { useNow } from '../../time/now.ts'
import { useZone } from '../../time/zone.ts'
import { Link, TextLink } from '../../ui/link.tsx'
import { usePhone } from '../../ui/media.ts'
import { Page, Section } from '../../ui/page.tsx'
import { Problem } from '../../ui/problem.tsx'
import { Segmented } from '../../ui/segmented.tsx'
import { State } from '../../ui/state-mark.tsx'
import { Tag } from '../../ui/tag.tsx'
import { words } from '../../words/words.ts'
import { endDay, endingTable, hintOf, Users } from './ending-words.tsx'
import { checkedAt, endingsOf, TIMELINE_DAYS, type Ending } from './endings.ts'
import { LaterDates } from './later-dates.tsx'
import { modelChange as place } from './place.ts'

/** Rows before the rest is behind a button. */
const SHOWN = { desktop: 6, phone: 3 }

const { heads } = words.modelChange

const COLUMNS: readonly TimelineColumn[] = [
  { head: heads.successor, width: 168, from: 960 },
  { head: heads.usedBy, width: 186 },
  { head: heads.requests, width: 108, isNumber: true },
]

export function ModelChangePage() {
  const search = place.useSearch()
  useZone()
  const nowMs = Math.floor(useNow() / 60_000) * 60_000
  const endings = useQuery(modelQueries.endings())
  const models = useQuery(modelQueries.all(undefined))
  const say = words.modelChange
  const all = endings.data && endingsOf(endings.data.data, search.project, nowMs)
  const checked = endings.data && checkedAt(endings.data.data)
  const served = models.data?.data.filter(({ retired }) => retired === null).map(({ id }) => id)
  return (
    <Page
      title={words.places.modelChange}
      actions={
        checked !== undefined && (
          <span className="text-12 text-ink-2 phone:hidden">
            {say.checked(daysUntil(checked, nowMs) === 0 ? say.today : day(checked, 'UTC'))}
          </span>
        )
      }
    >
      {endings.error !== null && all === undefined && (
        <Problem error={endings.error} retry={() => void endings.refetch()} />
      )}
      {all && (
        <>
          <Timeline
            endings={all.filter(({ daysLeft }) => daysLeft <= TIMELINE_DAYS)}
            models={served?.length}
            nowMs={nowMs}
            search={search}
          />
          <LaterDates
            endings={all}
            undated={served?.filter((id) => all.every(({ model }) => model !== id)).length}
          />
        </>
      )}
    </Page>
  )
}

interface TimelineProps {
  readonly endings: readonly Ending[]
  /** Undefined: not known yet. */
  readonly models: number | undefined
  readonly nowMs: number
  readonly search: SearchOf<typeof place>
}

function Timeline({ endings, models, nowMs, search }: TimelineProps) {
  const change = useChangeSearch<SearchOf<typeof place>>()
  const navigate = useNavigate()
  const isPhone = usePhone()
  const say = words.modelChange
  const isTable = search.view === 'table' && endings.length > 0
  const shown = search.all ? endings : endings.slice(0, isPhone ? SHOWN.phone : SHOWN.desktop)
  const hidden = endings.length - shown.length
  const fromMs = Math.floor(nowMs / DAY_MS) * DAY_MS
  const distinct = (rows: readonly Ending[]): number => new Set(rows.map(({ model }) => model)).size
  const more = (hidden > 0 || search.all) && endings.length > SHOWN.phone && !isTable && (
    <button
      type="button"
      className="link text-12"
      onClick={() => change({ all: search.all ? undefined : true }, { replace: true })}
    >
      {search.all ? say.fewer : say.more(hidden)}
    </button>
  )
  const [first] = endings
  return (
    <Section
      title={say.title(TIMELINE_DAYS)}
      note={
        isPhone ? (
          <Tag>{endings.length}</Tag>
        ) : (
          models !== undefined &&
          say.summary(distinct(endings), models, distinct(endings.filter(({ kind }) => kind !== 'unused')))
        )
      }
      actions={isPhone ? more : endings.length > 0 && <Controls isTable={isTable} />}
      className="gap-1 border-b border-line px-6 pt-4 pb-5 phone:px-4"
    >
      <TimelineChart
        caption={say.caption(endings.length, first === undefined ? '' : `${first.model}, ${endDay(first)}`)}
        words={{ name: heads.model, end: heads.ends, today: say.today }}
        fromMs={fromMs}
        days={TIMELINE_DAYS}
        columns={COLUMNS}
        rows={shown.map(rowOf)}
        empty={<State mark="good">{say.none(dayWithYear(fromMs + TIMELINE_DAYS * DAY_MS, 'UTC'))}</State>}
        describe={(index) => describe(shown[index])}
        onEnter={(index) => shown[index] && void navigate(paths.model(shown[index].model))}
        table={() => endingTable(endings)}
        isTable={isTable}
        onTable={(next) => change({ view: next ? 'table' : undefined }, { replace: true })}
      />
      {!isPhone && <div className="pt-1">{more}</div>}
    </Section>
  )
}

function Controls({ isTable }: { readonly isTable: boolean }) {
  const change = useChangeSearch<SearchOf<typeof place>>()
  const say = words.modelChange
  return (
    <>
      {!isTable && (
        <span aria-hidden className="mr-1 flex items-center gap-4 text-12 text-ink-2 tight:hidden">
          <LegendMark fill="var(--warn-fill)" stroke="var(--warn-fill)" text={say.legend.sent} />
          <LegendMark fill="none" stroke="var(--ink-2)" text={say.legend.due} />
        </span>
      )}
      <Segmented
        label={say.view}
        value={isTable ? 'table' : 'timeline'}
        segments={[
          { value: 'timeline', label: segment(ChartNoAxesGantt, say.timeline) },
          { value: 'table', label: segment(Table2, words.ui.table) },
        ]}
        onChange={(value) => change({ view: value === 'table' ? value : undefined }, { replace: true })}
      />
    </>
  )
}

function segment(Icon: LucideIcon, text: string) {
  return (
    <>
      <Icon size={14} aria-hidden /> {text}
    </>
  )
}

interface LegendMarkProps {
  readonly fill: string
  readonly stroke: string
  readonly text: string
}

function LegendMark({ fill, stroke, text }: LegendMarkProps) {
  return (
    <span className="flex items-center gap-1.5">
      <svg width={8} height={8}>
        <circle cx={4} cy={4} r={2.8} fill={fill} stroke={stroke} strokeWidth={1.4} />
      </svg>
      {text}
    </span>
  )
}

function rowOf(one: Ending): TimelineRow {
  const say = words.modelChange
  return {
    key: `${one.upstream} ${one.model}`,
    name: (
      <Link to={paths.model(one.model)} title={one.model} className="hover:text-accent">
        {one.model}
      </Link>
    ),
    note: one.upstream,
    kind: one.kind,
    endMs: Date.parse(one.ends_on),
    // Where no key uses it, no notice is sent.
    notices:
      one.kind === 'unused'
        ? []
        : one.notices.map(({ days, sent_at: sent }) => ({ days, isSent: sent !== null })),
    hint: hintOf(one),
    date: day(one.ends_on, 'UTC'),
    left: say.left(one.daysLeft),
    warning: one.oldDays === undefined ? undefined : say.old,
    cells: [
      <span key="successor" className={one.successor === null ? 'text-ink-3' : ''}>
        {one.successor ?? '–'}
      </span>,
      <Users key="users" ending={one} />,
      <span key="requests" className={one.requests_30d === 0 ? 'text-ink-3' : ''}>
        {count(one.requests_30d)}
      </span>,
    ],
    phoneNote:
      one.used_by.length === 0 ? (
        say.unused
      ) : (
        <TextLink to={paths.requests({ model: one.model, since: '30d' })}>
          {say.keys(one.used_by.length)}
        </TextLink>
      ),
  }
}

function describe(one: Ending | undefined): string {
  if (one === undefined) return ''
  const say = words.modelChange
  const users = one.used_by.length === 0 ? say.unused : one.used_by.map(({ key }) => key).join(', ')
  const end = `${endDay(one)}, ${say.left(one.daysLeft)}`
  return say.describe(`${one.model} ${one.upstream}`, end, users, hintOf(one))
}
