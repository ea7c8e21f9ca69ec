/** How to ask for this model with one's own SDK, what its answers say, and what requests share. */
import { Activity } from 'lucide-react'
import type { Schema } from '../../api/client.ts'
import { moneyInList, share } from '../../app/format.ts'
import { paths } from '../../app/paths.ts'
import { ButtonLink } from '../../ui/button.tsx'
import { classes } from '../../ui/classes.ts'
import { CodeBlock } from '../../ui/code-block.tsx'
import { CopyButton } from '../../ui/copy.tsx'
import { Facts, Section } from '../../ui/page.tsx'
import { words } from '../../words/words.ts'
import { useBaseUrl } from '../../parts/snippets/sdk-code.tsx'
import { SDK_NAMES, type Sdk } from '../../parts/snippets/snippet.ts'
import { sdksFor, snippet } from '../../parts/snippets/snippets.ts'

type Model = Schema<'ModelDetail'>

interface UseItProps {
  readonly model: Model
  readonly sdk: string | undefined
  readonly onSdk: (sdk: Sdk) => void
}

export function UseIt({ model, sdk, onSdk }: UseItProps) {
  const baseUrl = useBaseUrl()
  const { detail } = words.models
  const offered = sdksFor(model.kind)
  const chosen = offered.find((one) => one === sdk) ?? 'python'
  const code = snippet(chosen, {
    kind: model.kind,
    model: model.id,
    baseUrl,
    space: model.space ?? undefined,
  })
  return (
    <div className="flex flex-col gap-5 px-6 py-5 phone:px-4">
      <Section title={detail.howToUse} actions={<CopyButton text={code} look="quiet" />}>
        <div role="group" aria-label={detail.sdk} className="mt-2 flex flex-wrap gap-1.5">
          {offered.map((one) => (
            <button
              key={one}
              type="button"
              aria-pressed={one === chosen}
              className={classes(
                'h-6 rounded-chip border px-2 text-12 phone:h-8',
                one === chosen
                  ? 'border-ink font-semibold text-ink'
                  : 'border-line text-ink-2 hover:bg-hover',
              )}
              onClick={() => onSdk(one)}
            >
              {SDK_NAMES[one]}
            </button>
          ))}
        </div>
        <CodeBlock code={code.trimEnd()} copied={code} className="mt-2.5" />
        <p className="mt-2 text-12 text-ink-2">
          {detail.sdkStays} {model.space !== null && detail.pinned}
        </p>
      </Section>
      <Section title={detail.says} className="gap-2">
        <Headers model={model} />
      </Section>
      {model.kind === 'embedding' && (
        <Section title={detail.sharing} className="gap-2 border-t border-line pt-4">
          <Sharing model={model} />
        </Section>
      )}
      <div className="flex gap-2">
        <ButtonLink
          to={paths.requests({ model: model.id })}
          size="large"
          icon={<Activity size={15} aria-hidden />}
        >
          {detail.itsRequests}
        </ButtonLink>
      </div>
    </div>
  )
}

/** Headers of an answer, with values that this model's answers can have. */
function Headers({ model }: { readonly model: Model }) {
  const deployment = model.tiers[0]?.[0]?.deployment ?? model.deployments[0]?.id
  const emulated = Object.entries(model.can).flatMap(([name, how]) =>
    how === 'emulated' && name !== 'split' ? [HEADER_WORDS[name] ?? name] : [],
  )
  const isUnpriced = model.price[0]?.unit === 'unpriced'
  const headers: (readonly [name: string, value: string])[] = [
    ...(deployment === undefined ? [] : [['x-torana-deployment', deployment] as const]),
    ...(model.space === null ? [] : [['x-torana-space', model.space] as const]),
    ['x-torana-cost', isUnpriced ? 'unpriced' : costExample(model)],
    ...(model.cache === null ? [] : [['x-torana-cache', 'hits=2, misses=1'] as const]),
    ...(emulated.length === 0 ? [] : [['x-torana-emulated', emulated.join(', ')] as const]),
  ]
  return (
    <dl className="flex flex-col gap-1.5">
      {headers.map(([name, value]) => (
        <div key={name} className="mono-12 flex gap-3">
          <dt className="w-35 shrink-0 text-ink-2">{name}</dt>
          <dd className="min-w-0 flex-1 truncate" title={value}>
            {value}
          </dd>
        </div>
      ))}
    </dl>
  )
}

/** As the header writes an amount: nine decimals. */
function costExample({ kind, price }: Model): string {
  if (price[0]?.unit === 'free') return '0.000000000'
  return kind === 'image' ? '0.040000000' : '0.000000020'
}

/** Options as the header names them. */
const HEADER_WORDS: Record<string, string> = { base64: 'encoding_format', token_ids: 'input' }

function Sharing({ model }: { readonly model: Model }) {
  const { detail } = words.models
  const { cache, micro_batch: batch } = model
  return (
    <Facts
      labelWidth={92}
      facts={[
        [detail.cache, cache === null ? detail.cacheOff : detail.cacheFor(spanText(cache.ttl_seconds))],
        [
          detail.microBatch,
          batch === null
            ? detail.microBatchOff
            : detail.microBatchText(batch.max_wait_ms, batch.max_items) +
              (batch.average_items === null ? '' : detail.average(batch.average_items.toFixed(1))),
        ],
        ...(cache === null
          ? []
          : [[detail.hits, detail.hitsText(share(cache.hits_share), moneyInList(cache.saved_usd))] as const]),
      ]}
    />
  )
}

function spanText(seconds: number): string {
  const { detail } = words.models
  if (seconds % 86_400 === 0) return detail.days(seconds / 86_400)
  if (seconds % 3600 === 0) return detail.hours(seconds / 3600)
  return detail.minutes(Math.round(seconds / 60))
}
