/** The reference of a model: what is missing of it, and which answer completes it. */
import type { Deployment, EmbeddingModel } from '#core/catalog/catalog.ts'
import { takesProbeImages } from '#core/embedding/probe-images.ts'
import { checkProbe, type ProbeVectors, type SpaceCheck } from '#core/embedding/space-check.ts'
import type { SpaceReference, SpaceStore } from '#ports/spaces.ts'

/** What deployments need of their model's reference and is not there yet. */
export type MissingReference = 'all' | 'images' | undefined

export function missingOf(
  reference: SpaceReference | undefined,
  deployments: readonly Deployment[],
): MissingReference {
  if (reference === undefined) return 'all'
  return reference.imageVectors === undefined && deployments.some(takesProbeImages) ? 'images' : undefined
}

export function checkAgainst({ vectors, imageVectors }: SpaceReference, probed: ProbeVectors): SpaceCheck {
  return checkProbe({ texts: vectors, images: imageVectors }, probed)
}

export function referenceFrom(
  model: EmbeddingModel,
  deployment: Deployment,
  made: ProbeVectors & { readonly acceptedAtMs: number; readonly generation: number },
): SpaceReference {
  const { texts, images, acceptedAtMs, generation } = made
  return {
    model: model.id,
    generation,
    width: texts[0]?.length ?? 0,
    vectors: texts,
    ...(images && { imageVectors: images }),
    deployment: deployment.id,
    acceptedAtMs,
  }
}

/**
 * The reference that counts after this answer. The first answer is the reference. Images are added by the first answer that has them
 * and whose texts agree: what the model has answered to texts stays comparable.
 */
export async function completed(
  known: SpaceReference | undefined,
  first: SpaceReference,
  store: Pick<SpaceStore, 'beginReference' | 'addImages'>,
): Promise<SpaceReference> {
  if (known === undefined) return store.beginReference(first)
  const { imageVectors } = first
  if (known.imageVectors !== undefined || imageVectors === undefined) return known
  const { verdict } = checkAgainst(known, { texts: first.vectors })
  return verdict === 'quarantined' ? known : store.addImages({ ...known, imageVectors })
}
