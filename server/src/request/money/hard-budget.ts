/** What a hard budget forbids: anything whose cost could not be held against it. */
import { Fault } from '#core/fault/fault.ts'
import type { Budget } from '#core/budget.ts'
import type { Key } from '#ports/keys.ts'

export function hasHardBudget(key: Key): boolean {
  return key.budgets.some(({ hard }) => hard)
}

/** `project search`, `key search/website`: for messages. */
export function ownerOf({ id }: Budget): string {
  return id.replace(':', ' ')
}

/** A model that this key may not use, because calls without a price cannot be counted against a budget. */
export function unpriced(model: string, key: Key): Fault {
  return new Fault(
    'model_unpriced',
    `'${model}' has no price for this request, and ${hardOwner(key)} has a hard budget. Torana cannot count a call without a price against a budget. Use a model with a price.`,
  )
}

function hardOwner(key: Key): string {
  const budget = key.budgets.find(({ hard }) => hard)
  return budget === undefined ? `key ${key.name}` : ownerOf(budget)
}

interface Carrying {
  readonly deployment: { readonly capabilities: { readonly harmlessFields: readonly string[] } }
  readonly extraFields: Readonly<Record<string, unknown>>
}

/** A field that the catalog does not know may multiply the cost. */
export function refuseUnknownFields(offers: readonly Carrying[], key: Key): void {
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
