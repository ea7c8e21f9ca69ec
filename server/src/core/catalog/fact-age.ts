/** Where facts of the catalogue were read, and how old they are. */

/** Age at which a fact is shown as old, so that a person reads its source again three times per year. */
const OLD_FACT_DAYS = 120
const DAY_MS = 86_400_000

/** Where a fact was read, and when. */
export interface FactOrigin {
  readonly source?: string | undefined
  readonly asOf?: string | undefined
}

/** The origins of the facts of the catalogue about a deployment. What torana.yaml or the store says has none. */
export function originsOf(deployment: {
  readonly factsFrom?: FactOrigin | undefined
  readonly priceFrom?: ({ readonly from: string } & FactOrigin) | undefined
  readonly end?: FactOrigin | undefined
}): Readonly<Record<'facts' | 'price' | 'end', FactOrigin | undefined>> {
  const { factsFrom, priceFrom, end } = deployment
  return { facts: factsFrom, price: priceFrom?.from === 'catalog' ? priceFrom : undefined, end }
}

/** Whether a fact was read longer ago than facts stay true. False for a fact without a day. */
export function isOldFact(asOf: string | undefined, nowMs: number): boolean {
  return asOf !== undefined && nowMs - Date.parse(asOf) > OLD_FACT_DAYS * DAY_MS
}
