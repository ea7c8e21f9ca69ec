/** What needs a person, worst first: shape, title, one sentence with the number, age, one link. */
import { BellPlus } from 'lucide-react'
import type { AlertKind } from '../../api/queries/alerts.ts'
import { useState } from 'react'
import { age, ageOf } from '../../app/format.ts'
import { useNow } from '../../time/now.ts'
import { paths } from '../../app/paths.ts'
import { useMay } from '../../app/session.ts'
import type { Attention } from '../../api/queries/overview.ts'
import { Link, TextLink, type Address } from '../../ui/link.tsx'
import { usePhone } from '../../ui/media.ts'
import { StateMark, type Mark } from '../../ui/state-mark.tsx'
import { Tag } from '../../ui/tag.tsx'
import { words } from '../../words/words.ts'

const MOST = 8
/** A phone has other things to show without scrolling. */
const MOST_ON_PHONE = 3
/** The rule that would have notified someone. */
const ALERTS: Partial<Record<Attention['kind'], AlertKind>> = {
  deployment_ejected: 'ejected',
  deployment_rejected_us: 'ejected',
  space_left: 'space',
  space_warned: 'space',
  unknowns_open: 'unknowns',
  budget_mark: 'budget',
  budget_used_up: 'budget',
  spool_waiting: 'spool',
  store_away: 'spool',
  node_silent: 'node_down',
  ledger_stalled: 'ledger_stalled',
}
const MARKS: Record<Attention['severity'], Mark> = { bad: 'bad', odd: 'odd', warn: 'warn', off: 'off' }

export function AttentionList({ items }: { readonly items: readonly Attention[] | undefined }) {
  const [isWhole, setWhole] = useState(false)
  const now = useNow()
  const isPhone = usePhone()
  const shown = isWhole ? items : items?.slice(0, isPhone ? MOST_ON_PHONE : MOST)
  const hidden = (items?.length ?? 0) - (shown?.length ?? 0)
  return (
    <section className="flex flex-col px-5 pt-4 pb-4 tight:px-6 tight:py-2 phone:px-4">
      <header className="flex min-h-7 items-center gap-2">
        <h2 className="text-13 font-semibold">{words.overview.attention}</h2>
        {items !== undefined && <Tag>{items.length}</Tag>}
      </header>
      {items?.length === 0 && (
        <p className="border-t border-line py-3 text-ink-2">{words.overview.nothing}</p>
      )}
      <ul className="mt-1 tight:grid tight:grid-cols-2 tight:gap-x-8">
        {shown?.map((item) => (
          <Row key={item.id} item={item} nowMs={now} />
        ))}
      </ul>
      {hidden > 0 && (
        <button
          type="button"
          className="link w-full border-t border-line py-2 text-left text-12"
          onClick={() => setWhole(true)}
        >
          {words.overview.nMore(hidden)}
        </button>
      )}
    </section>
  )
}

function Row({ item, nowMs }: { readonly item: Attention; readonly nowMs: number }) {
  const say = words.overview.items[item.kind]
  const name = nameOf(item)
  const may = useMay()
  const alert = may('alerts.write') ? ALERTS[item.kind] : undefined
  const reason = item.figures['reason']
  const figures = {
    ...item.figures,
    ...(reason !== undefined && { reason: words.deployments.kinds[reason] ?? reason }),
    ...agesOf(item, nowMs),
  }
  return (
    <li className="flex gap-2.5 border-t border-line py-2">
      <StateMark mark={MARKS[item.severity]} className="mt-1" />
      <div className="min-w-0 flex-1">
        <p className="flex gap-2">
          <span className="min-w-0 flex-1 truncate font-strong">{say.title(name, figures)}</span>
          <span className="shrink-0 text-12 leading-5 text-ink-3">{ageOf(item.since, nowMs)}</span>
          {alert !== undefined && (
            <Link
              to={paths.alerts({ new: alert })}
              aria-label={words.overview.alertOn(say.title(name, figures))}
              title={words.overview.alert}
              className="-mr-0.5 shrink-0 self-center rounded-chip p-0.5 text-ink-3 hover:text-accent"
            >
              <BellPlus size={13} aria-hidden />
            </Link>
          )}
        </p>
        <p className="flex gap-3 text-12 leading-[17px]">
          <span className="min-w-0 flex-1 break-words text-ink-2">{say.text(figures, item.subject.id)}</span>
          <TextLink to={linkOf(item)} className="shrink-0">
            {say.link}
          </TextLink>
        </p>
      </div>
    </li>
  )
}

function agesOf({ since, figures }: Attention, nowMs: number): Record<string, string> {
  const left = (time: string | number | undefined): string => age(Date.parse(String(time)) - nowMs)
  return {
    age: ageOf(since, nowMs),
    ...(figures['posts_at'] !== undefined && { posts_in: left(figures['posts_at']) }),
    ...(figures['ends_at'] !== undefined && { in: left(figures['ends_at']) }),
  }
}

function nameOf({ subject, figures }: Attention): string {
  if (subject.type === 'deployment') return String(figures['upstream'] ?? subject.id)
  if (subject.type === 'budget') return subject.id.slice(subject.id.indexOf(':') + 1)
  return subject.id
}

function linkOf({ kind, subject, figures }: Attention): Address {
  if (kind === 'model_ends') return paths.model(String(figures['model']))
  if (kind === 'deployment_unpriced')
    return paths.upstreams({ model: String(figures['model']), tab: 'routing' })
  if (kind === 'unpriced_refused') return paths.settings('prices')
  if (kind === 'model_retired_used') return paths.requests({ fault: 'model_retired' })
  if (kind === 'webhook_given_up') return paths.settings('projects')
  if (kind === 'labels_overflowed') return paths.usage({ by: 'user', only: [`project:${subject.id}`] })
  switch (subject.type) {
    case 'deployment':
      return paths.deployment(subject.id)
    case 'model':
      return paths.model(subject.id)
    case 'key':
      return paths.key(subject.id)
    case 'budget':
      return paths.budget(subject.id)
    case 'unknowns':
      return paths.unknowns()
    case 'project':
      return paths.settings('projects')
    case 'node':
    case 'store':
      return paths.settings('nodes')
  }
}
