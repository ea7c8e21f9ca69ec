/** Parts of an end date in words: the day, who uses the model, and where the date is from. */
import { Fragment } from 'react'
import { count, day, dayWithYear } from '../../app/format.ts'
import { paths } from '../../app/paths.ts'
import type { ChartTable } from '../../charts/frame.tsx'
import { daysAfter } from '../../time/day.ts'
import { TextLink } from '../../ui/link.tsx'
import { words } from '../../words/words.ts'
import type { Ending } from './endings.ts'

/** Keys that are named before the rest is a number. */
const NAMED_KEYS = 2

export function endDay({ ends_on: on }: Ending): string {
  return dayWithYear(on, 'UTC')
}

/** Each key leads to its requests of this model. */
export function Users({ ending: { used_by: users, model } }: { readonly ending: Ending }) {
  const say = words.modelChange
  if (users.length === 0) return <span className="text-ink-3">{say.unused}</span>
  const named = users.slice(0, users.length > NAMED_KEYS ? 1 : NAMED_KEYS)
  const rest = users.length - named.length
  return (
    <>
      {named.map(({ key }, index) => (
        <Fragment key={key}>
          {index > 0 && ', '}
          <TextLink to={paths.requests({ key, model, since: '30d' })}>{key}</TextLink>
        </Fragment>
      ))}
      {rest > 0 && (
        <>
          {' '}
          <TextLink to={paths.requests({ model, since: '30d' })}>{say.andMore(rest)}</TextLink>
        </>
      )}
    </>
  )
}

function sourceText({ source, source_at: at }: Ending): string {
  return source === 'configuration' ? at : words.modelChange.sources[source](day(at, 'UTC'))
}

/** Which notices were sent, the next one, and where the date is from. */
export function hintOf(one: Ending): string {
  const { hint } = words.modelChange
  const from = hint.source(sourceText(one))
  if (one.kind === 'unused') return from
  const sent = sentDays(one)
  const next = one.notices.find(({ days }) => days < one.daysLeft)
  return [
    sent === '' ? hint.notSent : hint.sent(sent),
    ...(next ? [hint.next(day(daysAfter(one.ends_on, -next.days), 'UTC'))] : []),
    from,
  ].join(' ')
}

function sentDays({ notices }: Ending): string {
  return notices
    .filter(({ sent_at: at }) => at !== null)
    .map(({ days }) => days)
    .join(', ')
}

export function Source({ ending }: { readonly ending: Ending }) {
  const { oldDays, model } = ending
  const { oldHint, lookUp } = words.modelChange
  if (oldDays === undefined) return sourceText(ending)
  return (
    <span className="text-warn" title={oldHint(oldDays)}>
      {sourceText(ending)}, <TextLink to={paths.model(model)}>{lookUp}</TextLink>
    </span>
  )
}

export function endingTable(endings: readonly Ending[]): ChartTable {
  const { heads } = words.modelChange
  return {
    heads: [
      heads.model,
      heads.upstream,
      heads.ends,
      heads.source,
      heads.successor,
      heads.usedBy,
      heads.notices,
      heads.left,
      heads.requests,
    ],
    texts: 7,
    rows: endings.map((one) => [
      <TextLink key="model" to={paths.model(one.model)}>
        {one.model}
      </TextLink>,
      one.upstream,
      endDay(one),
      <Source key="source" ending={one} />,
      one.successor ?? '–',
      <Users key="users" ending={one} />,
      sentDays(one) || '–',
      one.daysLeft,
      count(one.requests_30d),
    ]),
  }
}
