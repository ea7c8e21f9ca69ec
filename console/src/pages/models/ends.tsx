/** What the page of a model says of its end: by deployment, with the successor, the source and the keys that use it. */
import { CalendarX2 } from 'lucide-react'
import type { Schema } from '../../api/client.ts'
import { paths } from '../../app/paths.ts'
import { Banner } from '../../ui/banner.tsx'
import { TextLink } from '../../ui/link.tsx'
import { words } from '../../words/words.ts'
import { isNear } from './row-words.ts'

type Model = Schema<'ModelDetail'>

/** Keys that are named before the rest is a number. */
const NAMED_KEYS = 8

export function Ends({ model }: { readonly model: Model }) {
  const near = Object.entries(model.ends_by_deployment).filter(([, end]) => isNear(end))
  return near.map(([deployment, end]) => {
    const goesOn = model.deployments.find(
      ({ ends_on: on }) => on === null || Date.parse(on) > Date.parse(end.on),
    )
    const { detail } = words.models
    return (
      <Banner
        key={deployment}
        tone={end.days_left <= 0 ? 'bad' : 'warn'}
        icon={<CalendarX2 size={18} aria-hidden />}
        className="mx-6 mt-3 phone:mx-4"
        title={detail.ends(deployment.slice(model.id.length + 1), end.on, end.days_left)}
      >
        <p>
          {end.successor === null ? detail.noSuccessor : detail.successor(end.successor)}{' '}
          {goesOn !== undefined && detail.goesOn(goesOn.upstream)} {end.note !== null && `${end.note}.`}{' '}
          <Source source={end.source} asOf={end.as_of} />
        </p>
        <UsedBy model={model} />
      </Banner>
    )
  })
}

/** Where the day is from on which its last deployment ends. */
export function sourceOf({ ends, ends_by_deployment: all }: Model) {
  const { source = null, as_of: asOf = null } = Object.values(all).find(({ on }) => on === ends?.on) ?? {}
  return { source, asOf }
}

export function Source({ source, asOf }: { readonly source: string | null; readonly asOf: string | null }) {
  if (source === null) return null
  const { detail } = words.models
  const name = source.startsWith('https://') ? (
    <a className="link" href={source} target="_blank" rel="noreferrer">
      {new URL(source).host}
    </a>
  ) : (
    source
  )
  return (
    <span className="text-ink-3">
      {detail.source} {name}
      {asOf !== null && `, ${asOf}`}
    </span>
  )
}

function UsedBy({ model: { used_by: users } }: { readonly model: Model }) {
  if (users === null) return null
  const { detail } = words.models
  if (users.count === 0) return <p>{detail.usedByNone}</p>
  const named = users.keys.slice(0, NAMED_KEYS)
  const rest = users.count - named.length
  return (
    <p className="break-words">
      {detail.usedBy}{' '}
      {named.map(({ key, requests_30d: requests }, index) => (
        <span key={key}>
          {index > 0 && ', '}
          <TextLink to={paths.key(key)}>{key}</TextLink> ({detail.usedRequests(requests)})
        </span>
      ))}
      {rest > 0 && ` ${detail.moreKeys(rest)}`}
    </p>
  )
}
