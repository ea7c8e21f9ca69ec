/** What the caller of a failed request got: the code with its page, the text, and what each call failed of. */
import type { RequestDetail } from '../../api/queries/requests.ts'
import { useSession } from '../../app/session.ts'
import { upstreamOf } from '../../parts/deployments/short-names.ts'
import { words } from '../../words/words.ts'

/** More causes in a row tell nothing more. */
const MAX_CAUSES = 4

export function CallersError({ request }: { readonly request: RequestDetail }) {
  const { install } = useSession()
  const { fault, fault_text: text, status, attempts, model } = request
  if (fault === null) return null
  const causes = new Set(
    attempts.flatMap(({ deployment, reason }) =>
      reason === null ? [] : [`${upstreamOf(deployment, model)}: ${reason}`],
    ),
  )
  const say = words.requests.callersError
  return (
    <section
      aria-label={say.title}
      className="mt-3 flex flex-col gap-1 rounded-control bg-sunken px-3.5 py-2.5 text-12 leading-[18px] phone:mt-0"
    >
      <p className="flex flex-wrap items-baseline gap-x-2">
        <span className="font-semibold">{say.title}</span>
        <a
          href={`${install.gateway_url}/docs/errors/${fault}`}
          target="_blank"
          rel="noreferrer"
          className="link mono-12"
        >
          {status} {fault}
        </a>
      </p>
      <p dir="auto" className={text === null ? 'text-ink-3' : 'break-words text-ink-2'}>
        {text ?? say.notKept}
      </p>
      {[...causes].slice(0, MAX_CAUSES).map((cause) => (
        <p key={cause} className="mono-12 break-words text-ink-2">
          {cause}
        </p>
      ))}
    </section>
  )
}
