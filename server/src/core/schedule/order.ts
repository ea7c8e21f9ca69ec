/** The properties by which an offer is ordered. */
interface Orderable {
  readonly deployment: { readonly priority: number }
  readonly emulated: readonly string[]
}

/**
 * The tiers in which deployments are asked: priority first, because the operator set it; within a priority the native
 * before the emulating. Equals stay in the order of their declaration.
 */
export function inTiers<Offer extends Orderable>(offers: readonly Offer[]): readonly Offer[] {
  if (offers.length === 1) return offers
  return offers.toSorted(
    (a, b) => a.deployment.priority - b.deployment.priority || emulationsOf(a) - emulationsOf(b),
  )
}

/**
 * Another encoding does not count as emulation here: it is exact, and SDKs ask for base64 without their users knowing.
 */
export function emulationsOf({ emulated }: Pick<Orderable, 'emulated'>): number {
  let count = 0
  for (const name of emulated) if (!EXACT.has(name)) count += 1
  return count
}

/** Emulations that only wrap the same bytes differently. */
const EXACT: ReadonlySet<string> = new Set(['encoding_format', 'response_format'])
