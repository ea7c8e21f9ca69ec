/** A further deployment of a model, as the entry that is saved: a fallback, at the price of the deployment beside it. */
import type { Routing } from '../../api/queries/routing.ts'
import type { AddedDeployment } from '../../parts/connect-upstream/fallbacks.ts'
import { deploymentsIn, fallbackPriority, tiersOf } from './deployments.ts'
import { keyOf, withChange, type Draft } from './draft.ts'
import { identityOf, type Entry } from './entry.ts'
import { priceOf } from './price.ts'

/** The pending changes with one more deployment. */
export function withAdded(draft: Draft, routing: Routing, added: AddedDeployment): Draft {
  const about = { object: 'model', name: routing.model } as const
  const pending = draft.get(keyOf(about)) ?? {
    base: routing.revision,
    before: routing.entry,
    entry: routing.entry,
  }
  const { base, before, entry } = pending
  const one = entryOf(added, routing, entry)
  const others = deploymentsIn(entry).filter((other) => identityOf(other) !== identityOf(one))
  return withChange(draft, { ...about, base, before, entry: { ...entry, deployments: [...others, one] } })
}

function entryOf({ upstream, role, price }: AddedDeployment, routing: Routing, entry: Entry | null): Entry {
  const tiers = tiersOf(routing, entry)
  const priority = role === 'share' ? (tiers[0]?.priority ?? 0) : fallbackPriority(tiers)
  const asked =
    price === 'same'
      ? priceBeside(routing, entry)
      : typeof price === 'object'
        ? priceOf('custom', routing.kind, price.usd)
        : price
  return { upstream, ...(priority > 0 && { priority }), ...(asked !== undefined && { price: asked }) }
}

/** The price of the first deployment that has one. Undefined: the model has one for all its deployments, or there is none. */
export function priceBeside({ deployments }: Routing, entry: Entry | null): unknown {
  if (entry?.['price'] !== undefined) return undefined
  return deployments
    .toSorted((one, other) => one.priority - other.priority)
    .find(({ price }) => price !== 'unpriced')?.price
}
