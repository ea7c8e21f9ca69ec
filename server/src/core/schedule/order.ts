/** What is needed of an offer to put it in its place. */
interface Orderable {
  readonly deployment: { readonly priority: number; readonly weight: number }
  readonly emulated: readonly string[]
}

/**
 * The order in which deployments are tried: priority first, since it is the operator's word; within a priority the native
 * before the emulating; within those a weighted draw. Another encoding does not count as emulation here: it is exact, and
 * SDKs ask for base64 without their users knowing.
 */
export function orderOffers<Offer extends Orderable>(
  offers: readonly Offer[],
  random: () => number,
): readonly Offer[] {
  if (offers.length === 1) return offers
  return offers
    .map((offer) => ({
      offer,
      emulations: emulationsOf(offer),
      draw: drawOf(offer.deployment.weight, random()),
    }))
    .toSorted(
      (a, b) =>
        a.offer.deployment.priority - b.offer.deployment.priority ||
        a.emulations - b.emulations ||
        b.draw - a.draw,
    )
    .map(({ offer }) => offer)
}

function emulationsOf(offer: Orderable): number {
  return offer.emulated.filter((name) => !EXACT.has(name)).length
}

/** Another wrapping of the same bytes. */
const EXACT: ReadonlySet<string> = new Set(['encoding_format', 'response_format'])

/** Sorting by u^(1/weight) draws without replacement in proportion to the weights (Efraimidis and Spirakis). */
function drawOf(weight: number, random: number): number {
  return weight <= 0 ? -1 : random ** (1 / weight)
}
