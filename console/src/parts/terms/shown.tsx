/** Limits and budgets, as lists show them. */
import type { Schema } from '../../api/client.ts'
import { count, whole } from '../../app/format.ts'
import { nanoOf, shareOf } from '../../app/money.ts'
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

/** `$250` and `$12.77`: cents only where there are some, and none from a hundred on. */
export function dollars(usd: string): string {
  const nano = nanoOf(usd)
  const cents = (nano + 5_000_000n) / 10_000_000n
  const isRound = cents % 100n === 0n || nano >= 100_000_000_000n
  const shown = isRound
    ? whole(Number((nano + 500_000_000n) / 1_000_000_000n))
    : `${whole(Number(cents / 100n))}.${String(cents % 100n).padStart(2, '0')}`
  return `$${shown}`
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
          {nanoOf(spent.usd) === 0n ? '$0.00' : dollars(spent.usd)}
        </span>{' '}
        {words.keys.budget(dollars(budget.usd), words.keys.per[budget.per], budget.hard)}
      </span>
    </span>
  )
}
