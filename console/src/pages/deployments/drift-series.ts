/** The lines of the drift chart: one for each deployment of a model, with its checks. */
import type { Deployment } from '../../api/queries/deployments.ts'
import type { SpaceProbe, SpaceSlot } from '../../api/queries/spaces.ts'
import { seriesColour, type Colour } from '../../charts/colours.ts'
import type { DriftSeries } from '../../charts/drift/drift-chart.tsx'
import { words } from '../../words/words.ts'
import { nameOf } from './state.tsx'

/** The reference first, in its own colour. */
export function seriesOf(
  slots: readonly SpaceSlot[],
  deployments: readonly Deployment[],
  reference: string | undefined,
): readonly DriftSeries[] {
  const order = deployments.toSorted(
    (left, right) => Number(right.id === reference) - Number(left.id === reference),
  )
  return order.flatMap((one, rank) => {
    const isOwn = ({ deployment }: { readonly deployment: string }): boolean => deployment === one.id
    const own = slots.filter(isOwn)
    if (own.length === 0) return []
    const name = one.id === reference ? words.deployments.drift.reference(nameOf(one)) : nameOf(one)
    return [{ name, colour: colourOf(rank), looks: own.map(pointOf) }]
  })
}

/** The second of two is told apart from the first by more than its shade. */
function colourOf(rank: number): Colour {
  return rank === 0 ? 's1' : rank === 1 ? 's6' : seriesColour(rank)
}

export function pointOf(slot: SpaceSlot) {
  return {
    atMs: Date.parse(slot.at),
    cosine: slot.least_text_cosine,
    images: slot.least_image_cosine,
    length: slot.norm_drift,
    verdict: slot.verdict,
    looks: slot.looks,
    least: slot.least_cosine,
  }
}

export function lookOf(look: SpaceProbe) {
  const { texts } = words.deployments.drift.byProbe
  const of = (some: readonly number[] | undefined) => (some?.length ? Math.min(...some) : null)
  return {
    atMs: Date.parse(look.at),
    cosine: of(look.cosines?.slice(0, texts.length)) ?? look.least_cosine,
    images: of(look.cosines?.slice(texts.length)),
    length: look.norm_drift,
    verdict: look.verdict,
    looks: 1,
    least: look.least_cosine,
  }
}
