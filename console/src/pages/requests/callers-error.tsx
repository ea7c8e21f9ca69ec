/** What the caller of a failed request got: the code with its page, who was at fault, the text, its cause, and each call that failed. */
import type { ReactNode } from 'react'
import type { RequestDetail } from '../../api/queries/requests.ts'
import { useSession } from '../../app/session.ts'
import { upstreamOf } from '../../parts/deployments/short-names.ts'
import { paths } from '../../app/paths.ts'
import { TextLink } from '../../ui/link.tsx'
import { classes } from '../../ui/classes.ts'
import { words } from '../../words/words.ts'

/** More calls in a row tell nothing more; the waterfall has all of them. */
const MAX_CALLS = 4

const PARTY_LOOKS = {
  caller: 'bg-tag text-ink-2',
  torana: 'bg-bad-tint text-bad',
  upstream: 'bg-warn-tint text-warn',
} as const

export function CallersError({ request }: { readonly request: RequestDetail }) {
  const { install } = useSession()
  const { fault, fault_text: text, fault_cause: cause, fault_party: party, status, skips } = request
  if (fault === null) return null
  const say = words.requests.callersError
  const failed = callsOf(request)
  const isTold = text?.includes(cause ?? '') === true || failed.some((call) => call.includes(cause ?? ''))
  return (
    <section
      aria-label={say.title}
      className="mt-3 flex flex-col gap-1.5 rounded-control bg-sunken px-3.5 py-2.5 text-12 leading-[18px] phone:mt-0"
    >
      <p className="flex flex-wrap items-baseline gap-x-2 gap-y-1">
        <span className="font-semibold">{say.title}</span>
        <a
          href={`${install.gateway_url}/docs/errors/${fault}`}
          target="_blank"
          rel="noreferrer"
          className="link mono-12"
        >
          {status} {fault}
        </a>
        {party !== null && (
          <span className={classes('ml-auto rounded-chip px-1.5 font-medium', PARTY_LOOKS[party])}>
            {say.parties[party]}
          </span>
        )}
      </p>
      <p dir="auto" className={text === null ? 'text-ink-3' : 'break-words text-ink'}>
        {text ?? say.notKept}
      </p>
      {text?.includes('[…]') && <p className="text-ink-3">{say.leftOut}</p>}
      {cause !== null && !isTold && <Line name={say.cause}>{cause}</Line>}
      {failed.slice(0, MAX_CALLS).map((call, index) => (
        <Line key={`${index} ${call}`} name={words.requests.waterfall.call(index + 1)}>
          {call}
        </Line>
      ))}
      {skips.map(({ deployment, reason }) => (
        <p key={deployment} className="flex gap-2 text-ink-2">
          <span className="w-14 shrink-0 text-ink-3">{words.deployments.notTried}</span>
          <span className="min-w-0 break-words">
            <TextLink to={paths.deployment(deployment)}>{upstreamOf(deployment, request.model)}</TextLink>{' '}
            {words.deployments.skips[reason]}
          </span>
        </p>
      ))}
      {failed.length > MAX_CALLS && <p className="text-ink-3">{say.more(failed.length - MAX_CALLS)}</p>}
    </section>
  )
}

function Line({ name, children }: { readonly name: string; readonly children: ReactNode }) {
  return (
    <p className="flex gap-2 text-ink-2">
      <span className="w-14 shrink-0 text-ink-3">{name}</span>
      <span className="mono-12 min-w-0 break-words">{children}</span>
    </p>
  )
}

/** `openai: 503, connect ECONNREFUSED 10.0.0.7:443`. */
function callsOf({ attempts, model }: RequestDetail): readonly string[] {
  const { kinds } = words.requests.story
  return attempts
    .filter(({ outcome }) => outcome !== 'ok')
    .map(({ deployment, status, reason, outcome }) => {
      const what = [status, reason ?? (status === null ? (kinds[outcome] ?? outcome) : null)]
      return `${upstreamOf(deployment, model)}: ${what.filter((one) => one !== null).join(', ')}`
    })
}
