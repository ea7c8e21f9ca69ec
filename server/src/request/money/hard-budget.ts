/** Refuses what a hard budget forbids: calls whose cost has no upper bound. */
import { Fault } from '#core/fault/fault.ts'
import type { Skip } from '#core/fault/skip.ts'
import type { Budget } from '#core/money/budget.ts'
import type { Cost } from '#core/money/price.ts'
import type { Key } from '#ports/keys.ts'

/** `project search`, `key search/website`: for messages. */
export function ownerOf({ id }: Budget): string {
  return id.replace(':', ' ')
}

function hardOwner(key: Key): string {
  const budget = key.budgets.find(({ hard }) => hard)
  return budget === undefined ? `key ${key.project}/${key.name}` : ownerOf(budget)
}

interface OfferWithFields {
  readonly deployment: {
    readonly id: string
    readonly capabilities: { readonly harmlessFields: readonly string[] }
  }
  readonly extraFields: Readonly<Record<string, unknown>>
}

interface PricedModel {
  readonly id: string
  readonly deployments: readonly { readonly id: string }[]
}

/**
 * The offers that this key may pay for. A hard budget allows only calls with a price and fields with a known
 * effect on it.
 */
export function payable<Offer extends OfferWithFields>(
  offers: readonly Offer[],
  hasPrice: (offer: Offer) => boolean,
  model: PricedModel,
  key: Key,
): readonly Offer[] {
  if (!key.budgets.some(({ hard }) => hard)) return offers
  const priced = offers.filter(hasPrice)
  if (priced.length === 0) {
    const able = new Set(offers.map(({ deployment }) => deployment.id))
    const skips = model.deployments.map(({ id }): Skip => ({
      deployment: id,
      reason: able.has(id) ? 'unpriced' : 'unable',
    }))
    throw unpriced(model.id, key).naming(skips)
  }
  refuseUnknownFields(priced, key)
  return priced
}

export function unpriced(modelId: string, key: Key): Fault {
  return new Fault(
    'model_unpriced',
    `'${modelId}' has no price for this request, and ${hardOwner(key)} has a hard budget. Torana cannot count a call without a price against a budget. An operator sets one in the console under Settings, Prices, or as \`price\` in torana.yaml; \`free\` is a price too. Or use a model with a price.`,
  )
}

/** A field that the catalog does not know may multiply the cost. */
function refuseUnknownFields(offers: readonly OfferWithFields[], key: Key): void {
  for (const { deployment, extraFields } of offers) {
    const { harmlessFields } = deployment.capabilities
    const unknown = Object.keys(extraFields).find((field) => !harmlessFields.includes(field))
    if (unknown === undefined) continue
    throw new Fault(
      'unsupported_parameter',
      `'${unknown}' is a field that Torana does not know, and ${hardOwner(key)} has a hard budget. The field could change what the request costs. Remove it.`,
      { param: unknown },
    )
  }
}

/** The amount reserved for a request: the largest of these costs. Under a hard budget all of them have a price. */
export function dearest(costs: readonly Cost[]): bigint {
  let most = 0n
  for (const cost of costs) if (cost.kind === 'known' && cost.nanoUsd > most) most = cost.nanoUsd
  return most
}
