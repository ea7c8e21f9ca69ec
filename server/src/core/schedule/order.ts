/** What is needed of an offer to put it in its place. */
interface Orderable {
  readonly deployment: { readonly priority: number }
  readonly emulated: readonly string[]
}

/**
 * The tiers in which deployments are asked: priority first, since it is the operator's word; within a priority the native
 * before the emulating. Equals stay as they were declared.
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

/** Another wrapping of the same bytes. */
const EXACT: ReadonlySet<string> = new Set(['encoding_format', 'response_format'])
