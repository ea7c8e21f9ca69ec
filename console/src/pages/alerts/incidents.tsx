/** Incidents, open ones first, with the channels that they notified. */
import { useInfiniteQuery } from '@tanstack/react-query'
import { Moon } from 'lucide-react'
import { useMemo } from 'react'
import { alertQueries, type Channel, type Incident } from '../../api/queries/alerts.ts'
import { useChangeSearch } from '../../app/change-search.ts'
import { language } from '../../app/language.ts'
import { paths } from '../../app/paths.ts'
import type { SearchOf } from '../../app/place.ts'
import { useNow } from '../../time/now.ts'
import { classes } from '../../ui/classes.ts'
import { DataTable, type Column } from '../../ui/data-table.tsx'
import { Empty } from '../../ui/empty.tsx'
import { Section } from '../../ui/page.tsx'
import { PhoneRow } from '../../ui/phone-row.tsx'
import { Segmented } from '../../ui/segmented.tsx'
import { MARK_TEXT, StateMark } from '../../ui/state-mark.tsx'
import { Tag } from '../../ui/tag.tsx'
import { words } from '../../words/words.ts'
import { ChannelIcon } from './channel-icon.tsx'
import type { alerts as place } from './place.ts'
import { endText, markOf, scopeText, spanText, timeText } from './texts.ts'

type Search = SearchOf<typeof place>

/** An incident with the channels that exist. */
interface Row {
  readonly incident: Incident
  readonly channels: readonly Channel[]
}

/** Rows before the rest is behind a link. */
const SHOWN = 8

const { heads } = words.alerts.incidents
/** Times take more room in Chinese. */
const isWide = language === 'zh'

const COLUMNS: readonly Column<Row>[] = [
  {
    id: 'incident',
    head: heads.incident,
    least: 216,
    cell: ({ incident }) => <Name incident={incident} />,
  },
  {
    id: 'scope',
    drop: 1,
    head: heads.scope,
    width: 107,
    cell: ({ incident }) => <span className={toneOf(incident)}>{scopeText(incident.scope)}</span>,
  },
  {
    id: 'started',
    drop: 3,
    head: heads.started,
    width: isWide ? 122 : 106,
    cell: ({ incident }) => <Started incident={incident} />,
  },
  {
    id: 'duration',
    head: heads.duration,
    width: isWide ? 112 : 88,
    align: 'right',
    cell: ({ incident }) => <Lasted incident={incident} />,
  },
  {
    id: 'notified',
    drop: 2,
    head: heads.notified,
    width: isWide ? 176 : 154,
    cell: (row) => <Notified row={row} />,
  },
  {
    id: 'resolved',
    head: heads.resolved,
    width: 86,
    align: 'right',
    cell: ({ incident }) => <Resolved incident={incident} />,
  },
]

interface IncidentsProps {
  readonly search: Search
  /** Of the summary. */
  readonly open: number | undefined
  readonly channels: readonly Channel[] | undefined
}

export function Incidents({ search, open, channels }: IncidentsProps) {
  const change = useChangeSearch<Search>()
  const query = useInfiniteQuery(alertQueries.incidents(search.state, search.project))
  const say = words.alerts.incidents
  const loaded = query.data?.pages.reduce((sum, { data }) => sum + data.length, 0) ?? 0
  const rows = useMemo(
    () =>
      query.data?.pages
        .flatMap(({ data }) => data)
        .slice(0, search.all ? undefined : SHOWN)
        .map((incident): Row => ({ incident, channels: channels ?? [] })),
    [query.data, search.all, channels],
  )
  return (
    <Section
      title={say.title}
      className="[&>header]:px-6 phone:[&>header]:px-4"
      actions={
        <>
          {loaded > SHOWN && (
            <button
              type="button"
              className="link text-12"
              onClick={() => change({ all: search.all ? undefined : true }, { replace: true })}
            >
              {search.all ? say.fewer : say.viewAll(query.hasNextPage ? undefined : loaded)}
            </button>
          )}
          <Segmented
            label={say.filter}
            value={search.state ?? 'all'}
            segments={[
              { value: 'all', label: say.all },
              { value: 'open', label: say.open, ...(open !== undefined && { count: open }) },
              { value: 'resolved', label: say.resolved },
            ]}
            onChange={(next) => change({ state: next === 'all' ? undefined : next }, { replace: true })}
          />
        </>
      }
    >
      <DataTable
        label={say.title}
        columns={COLUMNS}
        rows={rows}
        rowKey={({ incident }) => incident.id}
        query={search.all ? query : { ...query, hasNextPage: false }}
        rowHeight={34}
        href={({ incident }) => paths.alerts({ ...search, incident: incident.id })}
        phoneRow={phoneRow}
        fill={false}
        className="mt-1"
        empty={<NoIncidents state={search.state} />}
      />
    </Section>
  )
}

function NoIncidents({ state }: Pick<Search, 'state'>) {
  const say = words.alerts.incidents
  if (state !== undefined)
    return <Empty title={state === 'open' ? say.noneOpen : say.noneResolved} className="py-4" />
  return (
    <Empty title={say.none} className="py-4">
      {say.noneText}
    </Empty>
  )
}

function toneOf({ ended_at: ended }: Incident): string {
  return ended === null ? '' : 'text-ink-2'
}

export function IncidentMark({ incident }: { readonly incident: Incident }) {
  const { severity, ended_at: ended } = incident
  return (
    <StateMark
      mark={markOf(incident)}
      word={ended === null ? words.alerts.severities[severity] : words.alerts.resolved}
    />
  )
}

function Name({ incident }: { readonly incident: Incident }) {
  const { title, grouped } = incident
  return (
    <span className="flex min-w-0 items-center gap-2">
      <IncidentMark incident={incident} />
      <span title={title} className="truncate font-strong">
        {title}
      </span>
      {grouped > 1 && <Tag>{words.alerts.incidents.grouped(grouped)}</Tag>}
    </span>
  )
}

function Started({ incident }: { readonly incident: Incident }) {
  return (
    <span className={classes('tabular-nums', toneOf(incident))}>
      {timeText(incident.started_at, useNow())}
    </span>
  )
}

function Lasted({ incident }: { readonly incident: Incident }) {
  const nowMs = useNow()
  const { started_at: started, ended_at: ended } = incident
  const endMs = ended === null ? nowMs : Date.parse(ended)
  return <span className={toneOf(incident)}>{spanText(endMs - Date.parse(started))}</span>
}

/** When the first channel was notified of the start, and which ones were. */
function Notified({ row: { incident, channels } }: { readonly row: Row }) {
  const nowMs = useNow()
  const say = words.alerts.incidents
  const starts = incident.notices.filter(({ phase }) => phase === 'start' || phase === 'past')
  const sent = starts.flatMap(({ at }) => at ?? []).toSorted()
  const held = starts.find(({ held_until: until }) => until !== null)?.held_until
  if (starts.length === 0) return <span className="text-12 text-ink-3">{say.notSent}</span>
  return (
    <span className="flex items-center gap-2 text-12 text-ink-2">
      {sent[0] !== undefined && (
        <span className={classes('mr-1 text-13 tabular-nums', incident.ended_at === null && 'text-ink')}>
          {timeText(sent[0], nowMs)}
        </span>
      )}
      {[...new Set(starts.map(({ channel }) => channel))].map((id) => {
        const channel = channels.find((one) => one.id === id)
        return channel && <ChannelIcon key={id} kind={channel.kind} label={channel.name} />
      })}
      {held && (
        <span className="inline-flex items-center gap-1" title={say.heldUntil(timeText(held, nowMs))}>
          <Moon size={13} aria-hidden />
          {say.held}
        </span>
      )}
      {sent.length === 0 && !held && say.waiting}
    </span>
  )
}

function Resolved({ incident }: { readonly incident: Incident }) {
  const nowMs = useNow()
  const { ended_at: ended, started_at: started } = incident
  if (ended === null)
    return <span className={MARK_TEXT[markOf(incident)]}>{words.alerts.incidents.isOpen}</span>
  return <span className="text-ink-2">{endText(ended, started, nowMs)}</span>
}

const phoneRow = ({ incident }: Row) => (
  <PhoneRow
    mark={<IncidentMark incident={incident} />}
    title={incident.title}
    end={<Resolved incident={incident} />}
    note={
      <>
        {scopeText(incident.scope)}
        {incident.grouped > 1 && `, ${words.alerts.incidents.grouped(incident.grouped)}`}
      </>
    }
    endNote={<Lasted incident={incident} />}
  />
)
