/** Beside one request: its facts, what happened, and the ids that upstreams know it by. */
import type { ReactNode } from 'react'
import type { RequestDetail } from '../../api/queries/requests.ts'
import { bytes, clockExact, dayWithYear } from '../../app/format.ts'
import { paths } from '../../app/paths.ts'
import { timeZone, useZone } from '../../time/zone.ts'
import { CopyIconButton } from '../../ui/copy.tsx'
import { TextLink } from '../../ui/link.tsx'
import { Facts, Section } from '../../ui/page.tsx'
import { words } from '../../words/words.ts'
import { routeOf } from './curl.ts'
import { Marked } from './marked.tsx'
import { upstreamOf } from '../../parts/deployments/short-names.ts'
import { storyOf } from './story.ts'

const PART = 'border-b border-line px-5 py-4 last:border-b-0 phone:px-4'

export function RequestSide({ request }: { readonly request: RequestDetail }) {
  useZone()
  const sentences = storyOf(request)
  return (
    <>
      <Section title={words.requests.facts.title} className={PART}>
        <div className="pt-1.5">
          <Facts labelWidth={84} facts={factsOf(request)} />
        </div>
      </Section>
      {sentences.length > 0 && (
        <Section title={words.requests.story.title} className={PART}>
          <div className="flex flex-col gap-2.5 pt-1 text-12 leading-[18px] text-ink-2">
            {sentences.map((sentence) => (
              <p key={sentence}>
                <Marked text={sentence} />
              </p>
            ))}
          </div>
        </Section>
      )}
      {request.attempts.length > 0 && <UpstreamIds request={request} />}
    </>
  )
}

function factsOf(request: RequestDetail): readonly (readonly [string, ReactNode])[] {
  const { facts } = words.requests
  const { key, model, asked_model: asked, space, client_request_id: client, usage, node } = request
  const { client_address: address } = request
  const rows: (readonly [string, ReactNode])[] = []
  const add = (name: string, value: ReactNode): void => void rows.push([name, value])
  add(facts.id, <span className="mono-12 break-all">{request.id}</span>)
  add(
    facts.time,
    <time dateTime={request.at} className="tabular-nums">
      {timeText(request.at)}
    </time>,
  )
  add(facts.route, <span className="mono-12">{routeOf(request.kind)}</span>)
  if (key !== null) add(facts.key, <TextLink to={paths.key(key)}>{key}</TextLink>)
  if (model !== null) add(facts.model, <TextLink to={paths.model(model)}>{model}</TextLink>)
  if (asked !== null && asked !== model) add(facts.askedFor, asked)
  if (space !== null)
    add(
      facts.space,
      <span title={space} className="mono-12 block truncate">
        {space}
      </span>,
    )
  const { user, tags } = request
  if (user !== null)
    add(
      facts.user,
      <TextLink to={paths.requests({ user })}>
        <bdi>{user}</bdi>
      </TextLink>,
    )
  if (Object.keys(tags).length > 0) add(facts.tags, <Tags tags={tags} />)
  if (client !== null)
    add(
      facts.client,
      <TextLink to={paths.requests({ client, since: '30d' })}>
        <span className="mono-12 break-all">{client}</span>
      </TextLink>,
    )
  if (address !== null) add(facts.address, <TextLink to={paths.requests({ address })}>{address}</TextLink>)
  add(facts.emulated, request.emulated.length === 0 ? facts.nothing : request.emulated.join(', '))
  add(facts.dropped, request.dropped.length === 0 ? facts.nothing : request.dropped.join(', '))
  if (usage !== null) add(facts.usage, facts.usages[usage])
  add(facts.bytes, facts.inOut(bytes(request.bytes_in), bytes(request.bytes_out)))
  if (node !== '') add(facts.node, <TextLink to={paths.settings('nodes')}>{node}</TextLink>)
  return rows
}

/** Each opens the requests that have it. */
function Tags({ tags }: Pick<RequestDetail, 'tags'>) {
  return (
    <ul className="flex flex-col gap-0.5">
      {Object.entries(tags).map(([key, value]) => (
        <li key={key} className="min-w-0 break-all">
          <TextLink to={paths.requests({ tag: `${key}:${value}` })}>
            {key}=<bdi>{value}</bdi>
          </TextLink>
        </li>
      ))}
    </ul>
  )
}

/** As the ledger has it, or in the browser's zone. */
function timeText(at: string): string {
  if (timeZone() === undefined) return `${dayWithYear(at)} ${clockExact(at)}`
  return `${at.slice(0, 10)} ${clockExact(at)} ${words.shell.utc}`
}

function UpstreamIds({ request }: { readonly request: RequestDetail }) {
  return (
    <Section title={words.requests.upstreamIds} className={PART}>
      <ul className="flex flex-col gap-1.5 pt-1 text-12">
        {request.attempts.map((call, index) => (
          <li key={call.attempt} className="flex items-center gap-3">
            <span className="w-9 shrink-0 text-ink-3">{words.requests.waterfall.call(index + 1)}</span>
            <span title={call.call_id} className="mono-12 shrink-0">
              …{call.call_id.slice(-4)}
            </span>
            <span className="mono-12 min-w-0 flex-1 truncate text-ink-2">
              {upstreamOf(call.deployment, request.model)} {call.upstream_request_id ?? ''}
            </span>
            <CopyIconButton text={call.upstream_request_id ?? call.call_id} />
          </li>
        ))}
      </ul>
    </Section>
  )
}
