/** What a hard budget forbids: anything whose cost could not be held against it. */
import { Fault } from '#core/fault/fault.ts'
import type { Key } from '#ports/keys.ts'

export function hasHardBudget(key: Key): boolean {
  return key.budgets.some(({ hard }) => hard)
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
      `'${unknown}' is not known to the catalog, and key '${key.name}' has a hard budget: the field could change what the request costs. Remove it.`,
      { param: unknown },
    )
  }
}
