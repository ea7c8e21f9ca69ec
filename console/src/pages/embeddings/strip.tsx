/** What the call was: time, tokens, money, who served it, and its request. */
import { bytes, duration, moneyExact, whole } from '../../app/format.ts'
import { paths } from '../../app/paths.ts'
import { upstreamsOf } from '../../parts/deployments/short-names.ts'
import { TextLink } from '../../ui/link.tsx'
import { words } from '../../words/words.ts'
import type { Run } from './run.ts'

export function Strip({ run, isStale }: { readonly run: Run; readonly isStale: boolean }) {
  const { strip, stale, unpriced } = words.embeddings
  const facts = [
    [strip.took, duration(run.tookMs)],
    [strip.tokens, tokensText(run)],
    [strip.cost, run.costUsd === null ? unpriced : moneyExact(run.costUsd)],
    [strip.servedBy, served(run)],
    [strip.answer, strip.base64(bytes(run.answerBytes))],
  ] as const
  return (
    <div className="flex min-h-11 shrink-0 flex-wrap items-center gap-x-5 gap-y-1 border-b border-line px-5 py-2 text-12 phone:order-last phone:border-t phone:px-4">
      <dl className="flex flex-wrap gap-x-5 gap-y-1">
        {facts.map(([name, value]) => (
          <div key={name} className="flex gap-1.5">
            <dt className="text-ink-2">{name}</dt>
            <dd className="font-strong tabular-nums">{value}</dd>
          </div>
        ))}
      </dl>
      {isStale && <span className="text-ink-3">{stale}</span>}
      {run.requestId !== undefined && (
        <TextLink to={paths.request(run.requestId)} className="ml-auto">
          {strip.request}
        </TextLink>
      )}
    </div>
  )
}

/** `61 text, 3,354 image`, where the answer says it. */
function tokensText({ tokens, tokensByKind }: Run): string {
  const kinds = Object.entries(tokensByKind ?? {})
  if (kinds.length < 2) return whole(tokens)
  const { kinds: names } = words.embeddings.media
  return kinds.map(([kind, of]) => `${whole(of)} ${names[kind as keyof typeof names] ?? kind}`).join(', ')
}

/** Of `text-embedding-3-small/openai` the part that is not the model. */
function served({ deployment, request }: Run): string {
  if (deployment === undefined) return '–'
  return upstreamsOf(deployment.split(', '), request.model)
}
