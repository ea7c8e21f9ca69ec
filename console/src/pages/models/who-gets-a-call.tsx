/** Tiers in the order in which they are asked, with the share of the calls that each deployment really got. */
import { ArrowRight } from 'lucide-react'
import { Fragment } from 'react'
import type { Schema } from '../../api/client.ts'
import { ageOf, share } from '../../app/format.ts'
import { HOUR_MS } from '../../time/day.ts'
import { useNow } from '../../time/now.ts'
import { Meter } from '../../charts/meter.tsx'
import { Section } from '../../ui/page.tsx'
import { words } from '../../words/words.ts'
import { limitTexts, upstreamIn, type Turn } from './turns.ts'

type Model = Schema<'ModelDetail'>

export function WhoGetsACall({ model }: { readonly model: Model }) {
  const { detail } = words.models
  return (
    <Section title={detail.whoGetsACall} className="px-6 pb-6 phone:px-4">
      <div className="mt-2 flex items-stretch gap-2 phone:flex-col">
        {model.tiers.map((tier, at) => (
          <Fragment key={tier[0]?.deployment ?? at}>
            {at > 0 && (
              <ArrowRight size={16} aria-hidden className="shrink-0 self-center text-ink-3 phone:rotate-90" />
            )}
            <div
              className="min-w-0 rounded-control border border-line px-3 py-2.5"
              style={{ flex: `${at === 0 ? 2 : 1} 1 0` }}
            >
              <p className="mb-1 text-11 text-ink-3">{detail.tierHead(at + 1)}</p>
              {tier.map((turn) => (
                <TurnView key={turn.deployment} turn={turn} model={model} isFirst={at === 0} />
              ))}
            </div>
          </Fragment>
        ))}
      </div>
    </Section>
  )
}

interface TurnViewProps {
  readonly turn: Turn
  readonly model: Model
  readonly isFirst: boolean
}

function TurnView({ turn, model, isFirst }: TurnViewProps) {
  const nowMs = useNow()
  const { detail } = words.models
  return (
    <div className="pb-2 last:pb-0">
      <p className="flex items-baseline justify-between gap-2">
        <span className="truncate font-strong">{upstreamIn(model, turn.deployment)}</span>
        <span className={turn.share === 0 ? 'text-ink-3' : 'tabular-nums'} title={detail.shareNote}>
          {share(turn.share, 0)}
        </span>
      </p>
      {isFirst ? (
        <Meter share={turn.share} label={`${share(turn.share, 0)} ${detail.shareNote}`} className="mt-1" />
      ) : (
        <p className="text-12 text-ink-3">
          {limitTexts(turn).map((text) => (
            <span key={text} className="block truncate">
              {text}
            </span>
          ))}
          <span className="block truncate">{lastUsedText(turn.last_used_at, nowMs)}</span>
        </p>
      )}
    </div>
  )
}

/** The API knows the hour of the last call: of the last two hours, that is all that can be said. */
export function withinHours(hour: string, nowMs: number): string | undefined {
  const hours = Math.ceil((nowMs - Date.parse(hour)) / HOUR_MS)
  return hours <= 2 ? words.models.detail.within(Math.max(1, hours)) : undefined
}

function lastUsedText(hour: string | null, nowMs: number): string {
  const { detail } = words.models
  if (hour === null) return detail.notUsed
  const within = withinHours(hour, nowMs)
  return within === undefined ? detail.lastUsed(ageOf(hour, nowMs)) : detail.lastUsedWithin(within)
}
