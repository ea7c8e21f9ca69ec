/** Limits and budgets, as lists show them. */
import type { Schema } from '../../api/client.ts'
import { count, moneyShort } from '../../app/format.ts'
import { shareOf } from '../../app/money.ts'
import { Meter } from '../../charts/meter.tsx'
import { words } from '../../words/words.ts'

type Key = Schema<'Key'>

const NEAR = 0.8

/** The tightest first; a list shows one. */
export function limitsText(limits: Key['limits']): string {
  const { requests_per_minute: requests, tokens_per_minute: tokens, images_per_minute: images } = limits
  if (requests !== undefined) return words.keys.limit.requests(count(requests))
  if (images !== undefined) return words.keys.limit.images(count(images))
  if (tokens !== undefined) return words.keys.limit.tokens(count(tokens))
  return '–'
}

export function Budget({ of }: { readonly of: Pick<Key, 'budget' | 'spent'> }) {
  const { budget, spent } = of
  if (budget === null || spent === null) return <span className="text-ink-3">{words.keys.none}</span>
  const share = shareOf(spent.usd, budget.usd)
  const isNear = share >= NEAR
  const colour = share >= 1 ? 'bad' : isNear ? 'warn' : 's1'
  return (
    <span className="flex min-w-0 items-center gap-2.5" title={`$${spent.usd}`}>
      <Meter share={share} colour={colour} width={48} />
      <span className="truncate text-ink-3">
        <span className={isNear ? 'tabular-nums text-warn' : 'tabular-nums text-ink'}>
          {moneyShort(spent.usd)}
        </span>{' '}
        {words.keys.budget(moneyShort(budget.usd), words.keys.per[budget.per], budget.hard)}
      </span>
    </span>
  )
}
