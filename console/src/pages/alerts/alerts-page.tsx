/** What is wrong now, the rules that notice it, and the channels that they notify. */
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { BellOff, Plus } from 'lucide-react'
import { useCallback } from 'react'
import {
  alertQueries,
  type AlertKind,
  type Channel,
  type Rule,
  type Summary,
} from '../../api/queries/alerts.ts'
import { useWrite } from '../../api/write.ts'
import { useChangeSearch } from '../../app/change-search.ts'
import { count } from '../../app/format.ts'
import { lazyPart } from '../../app/lazy-part.tsx'
import type { SearchOf } from '../../app/place.ts'
import { useMay } from '../../app/session.ts'
import { useStream, useStreamState } from '../../app/stream.ts'
import { nowMs, useNow } from '../../time/now.ts'
import { useZone } from '../../time/zone.ts'
import { Banner } from '../../ui/banner.tsx'
import { Button } from '../../ui/button.tsx'
import { Figures } from '../../ui/figures.tsx'
import { LiveMark } from '../../ui/live-mark.tsx'
import { Menu, MenuHead, MenuItem } from '../../ui/menu.tsx'
import { Facts, Page, Section } from '../../ui/page.tsx'
import { words } from '../../words/words.ts'
import { Channels } from './channels.tsx'
import { Incidents } from './incidents.tsx'
import { NoticePreview } from './notice-preview.tsx'
import { alerts as place } from './place.ts'
import { missingKinds, type RuleList } from './rule-form.ts'
import { Rules } from './rules.tsx'
import { neverHeld, quietFact, quietOf, shortDuration, spanText, timeText } from './texts.ts'

const IncidentSheet = lazyPart(async () => (await import('./incident-sheet.tsx')).IncidentSheet)
const RuleSheet = lazyPart(async () => (await import('./rule-sheet.tsx')).RuleSheet)

/** Hours for which notifications can be muted. */
const MUTE_HOURS = [1, 4, 24]
const HOUR_MS = 3_600_000
const MINUTE_MS = 60_000

export function AlertsPage() {
  const search = place.useSearch()
  const change = useChangeSearch<SearchOf<typeof place>>()
  const may = useMay()
  useZone()
  const queries = useQueryClient()
  useStream(
    'incidents',
    () =>
      void queries.invalidateQueries(
        { predicate: ({ queryKey }) => String(queryKey[1]).startsWith('/api/v1/alerts') },
        PATIENT,
      ),
  )
  const stream = useStreamState()
  const summary = useQuery(alertQueries.summary(search.project)).data
  const rules = useQuery(alertQueries.rules())
  const channels = useQuery(alertQueries.channels())
  const openRule = useCallback((kind: AlertKind) => change({ new: kind }), [change])
  return (
    <Page
      title={words.places.alerts}
      sideWidth={336}
      sideBelowTables
      actions={
        <>
          <span className="phone:hidden">
            <LiveMark state={stream} />
          </span>
          <Mute until={summary?.muted_until ?? null} />
          <Button
            look="primary"
            size="large"
            icon={<Plus size={15} aria-hidden />}
            why={may('alerts.write') ? undefined : words.alerts.forbidden}
            onClick={() => openRule('budget')}
          >
            {words.alerts.rules.new}
          </Button>
        </>
      }
      side={
        <div className="flex flex-col gap-5 px-5 py-3.5 tight:grid tight:grid-cols-2 tight:gap-10 tight:px-6 phone:px-4">
          <Channels
            channels={channels.data?.data}
            error={channels.error}
            retry={() => void channels.refetch()}
          />
          <div className="flex flex-col gap-5">
            <QuietHours rules={rules.data?.data} channels={channels.data?.data ?? []} />
            <NoticePreview kind="space" />
          </div>
        </div>
      }
    >
      <div className="flex flex-col gap-4 pt-3.5 pb-8">
        <Muted until={summary?.muted_until ?? null} />
        <SummaryFigures summary={summary} rules={rules.data} />
        <Incidents search={search} open={summary?.open} channels={channels.data?.data} />
        <Rules list={rules.data} channels={channels.data?.data} query={rules} onNew={openRule} />
      </div>
      {search.incident !== undefined && (
        <IncidentSheet
          id={search.incident}
          channels={channels.data?.data ?? []}
          onClose={() => change({ incident: undefined }, { replace: true })}
        />
      )}
      {search.new !== undefined && (
        <RuleSheet
          key={search.new}
          kind={search.new}
          onClose={() => change({ new: undefined }, { replace: true })}
        />
      )}
    </Page>
  )
}

/** Lets a request in progress finish: incidents of a storm come one after the other. */
const PATIENT = { cancelRefetch: false }

interface SummaryFiguresProps {
  readonly summary: Summary | undefined
  readonly rules: RuleList | undefined
}

function SummaryFigures({ summary, rules }: SummaryFiguresProps) {
  const missing = rules === undefined ? 0 : missingKinds(rules).length
  const say = words.alerts.figures
  const shown = <Value,>(of: (one: Summary) => Value): Value | string =>
    summary === undefined ? '–' : of(summary)
  return (
    <Figures
      className="min-h-14 px-6 phone:px-4"
      figures={[
        {
          name: say.open,
          value: shown(({ open }) => open),
          note: shown(({ critical }) => say.critical(critical)),
        },
        {
          name: say.resolved,
          value: shown((one) => count(one.resolved_7d)),
          note: shown(({ median_minutes: minutes }) =>
            minutes === null ? '–' : say.median(spanText(minutes * MINUTE_MS)),
          ),
        },
        {
          name: say.sent,
          value: shown((one) => count(one.notifications_7d)),
          note: shown(({ delivered, retrying }) => say.delivered(count(delivered), retrying)),
        },
        {
          name: say.speed,
          value: shown(({ p95_notify_ms: ms }) => (ms === null ? '–' : shortDuration(ms))),
          note: say.speedNote,
        },
        {
          name: say.rules,
          value: shown((one) => say.on(one.rules_on)),
          note: shown((one) => say.off(one.rules_off, missing)),
        },
      ]}
    />
  )
}

function Mute({ until }: { readonly until: string | null }) {
  const may = useMay()
  const mute = useWrite('put', '/api/v1/alerts/mute')
  const say = words.alerts.mute
  const why = may('alerts.write') ? undefined : words.alerts.forbidden
  const icon = <BellOff size={15} aria-hidden />
  if (until !== null || why !== undefined)
    return until === null ? (
      <Button size="large" icon={icon} why={why}>
        <span className="phone:sr-only">{say.action}</span>
      </Button>
    ) : null
  return (
    <Menu
      align="end"
      trigger={
        <Button size="large" icon={icon} busy={mute.busy}>
          <span className="phone:sr-only">{say.action}</span>
        </Button>
      }
    >
      <MenuHead>{say.title}</MenuHead>
      {MUTE_HOURS.map((hours) => (
        <MenuItem
          key={hours}
          onSelect={() => mute.now({ body: { until: new Date(nowMs() + hours * HOUR_MS).toISOString() } })}
        >
          {say.hours(hours)}
        </MenuItem>
      ))}
    </Menu>
  )
}

function Muted({ until }: { readonly until: string | null }) {
  const may = useMay()
  const mute = useWrite('put', '/api/v1/alerts/mute')
  const now = useNow()
  const say = words.alerts.mute
  if (until === null) return null
  return (
    <Banner
      tone="warn"
      className="mx-6 phone:mx-4"
      icon={<BellOff size={16} aria-hidden />}
      title={say.muted(timeText(until, now))}
      action={
        <Button
          writes
          busy={mute.busy}
          why={may('alerts.write') ? undefined : words.alerts.forbidden}
          onClick={() => mute.now({ body: { until: null } })}
        >
          {say.unmute}
        </Button>
      }
    >
      {say.mutedText}
    </Banner>
  )
}

interface QuietHoursProps {
  readonly rules: readonly Rule[] | undefined
  readonly channels: readonly Channel[]
}

function QuietHours({ rules, channels }: QuietHoursProps) {
  const say = words.alerts.quiet
  if (rules === undefined) return null
  const quiet = quietOf(rules)
  const free = neverHeld(channels)
  return (
    <Section title={say.title}>
      {quiet.length === 0 ? (
        <p className="text-12 text-ink-2">{say.none}</p>
      ) : (
        <Facts
          facts={[
            ...quiet.map(quietFact),
            ...(free.length === 0
              ? []
              : [[say.exceptions, say.neverHeld(free.join(', '), free.length > 1)] as const]),
          ]}
        />
      )}
    </Section>
  )
}
