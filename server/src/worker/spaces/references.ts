/** The reference of a model: what is missing of it, and which answer completes it. */
import type { Deployment, EmbeddingModel } from '#core/catalog/catalog.ts'
import { takesProbeImages } from '#core/embedding/probe-images.ts'
import {
  checkProbe,
  type CheckTerms,
  type ProbeVectors,
  type ReferenceVectors,
  type SpaceCheck,
} from '#core/embedding/space-check.ts'
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

export function checkAgainst(
  reference: SpaceReference,
  probed: ProbeVectors,
  terms: CheckTerms = {},
): SpaceCheck {
  return checkProbe(vectorsOf(reference), probed, terms)
}

export function vectorsOf({ vectors, imageVectors, spread, imageSpread }: SpaceReference): ReferenceVectors {
  return { texts: vectors, images: imageVectors, spread, imageSpread }
}

export function referenceFrom(
  model: EmbeddingModel,
  deployment: Deployment,
  made: ReferenceVectors & { readonly acceptedAtMs: number; readonly generation: number },
): SpaceReference {
  const { texts, images, spread, imageSpread, acceptedAtMs, generation } = made
  return {
    model: model.id,
    generation,
    width: texts[0]?.length ?? 0,
    vectors: texts,
    ...(images && { imageVectors: images }),
    ...(spread && { spread }),
    ...(imageSpread && { imageSpread }),
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
  const { imageVectors, imageSpread } = first
  if (known.imageVectors !== undefined || imageVectors === undefined) return known
  const { verdict } = checkAgainst(known, { texts: first.vectors })
  return verdict === 'quarantined' ? known : store.addImages({ ...known, imageVectors, imageSpread })
}
