/** Whether and how a request shares vectors and calls with others. */
import type { VectorCache, VectorDigests } from '#ports/vector-cache.ts'
import type { EmbedDependencies } from './embed.ts'
import type { MicroBatches } from './micro-batch.ts'
import { Flights, type SharingRules } from './shared-vectors.ts'

export interface SharingParts {
  readonly cache: VectorCache
  readonly batches: MicroBatches
  readonly digestsFor: VectorDigests
  /** Whether a vector of a guarded model still belongs to its space. */
  readonly isTrusted: SharingRules['isTrusted']
  /** Whether a good check of its deployment has followed. */
  readonly isConfirmed: SharingRules['isConfirmed']
}

export function sharingBy({
  cache,
  batches,
  digestsFor,
  isTrusted,
  isConfirmed,
}: SharingParts): EmbedDependencies['sharingOf'] {
  const flights = new Flights()
  return (model, { inputType }, { project, space, cacheUse }) => {
    const { microBatch } = model
    if (model.cache === undefined && microBatch === undefined) return undefined
    return {
      cache: model.cache && { store: cache, ttlMs: model.cache.ttlMs },
      mayRead: cacheUse === 'usual',
      mayKeep: cacheUse !== 'none',
      digestsOf: digestsFor({ project, space, inputType, model }),
      isTrusted: model.isGuarded ? isTrusted : () => true,
      isConfirmed: model.isGuarded ? isConfirmed : () => true,
      flights,
      batches,
      microBatch,
    }
  }
}
