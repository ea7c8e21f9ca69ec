/** Opens what requests share: the vector cache, texts in progress, and micro-batches. */
import type { VectorCache } from '#ports/vector-cache.ts'
import type { EmbedDependencies } from '#request/embeddings/embed.ts'
import { MicroBatches } from '#request/embeddings/micro-batch.ts'
import type { SharingRules } from '#request/embeddings/shared-vectors.ts'
import { sharingBy } from '#request/embeddings/sharing.ts'
import { wait } from '#runtime/clock.ts'
import { vectorDigests } from '#runtime/vector-digests.ts'
import { MemoryVectorCache } from '#stores/memory/vector-cache.ts'
import { RedisVectorCache } from '#stores/redis/vector-cache.ts'
import { TieredVectorCache } from '#stores/tiered-vector-cache.ts'
import { cacheLog } from '#telemetry/store-log.ts'
import type { Basics } from './basics.ts'

export interface SharedVectors extends AsyncDisposable {
  readonly sharingOf: EmbedDependencies['sharingOf']
  readonly cache: VectorCache
  /** Why the cache at CACHE_URL can't be used. Undefined: it answers. The function is undefined without CACHE_URL. */
  readonly sharedCacheTrouble: (() => string | undefined) | undefined
  /** Average number of texts of a shared call since the start. Undefined: there was no such call. */
  readonly averageItems: (model: string) => number | undefined
}

export function openSharing(
  basics: Basics,
  guard: Pick<SharingRules, 'isTrusted' | 'isConfirmed'>,
): SharedVectors {
  const { secrets, clock, log, limits } = basics
  const near = new MemoryVectorCache({ maxBytes: limits.cacheBytes, clock })
  const { cache: url } = basics.storeUrls
  let lastError = 'not reached yet'
  const logTrouble = cacheLog(log)
  const far =
    url === undefined
      ? undefined
      : new RedisVectorCache({
          url,
          clock,
          events: (event) => {
            if (event.kind === 'away') lastError = event.error.message
            logTrouble(event)
          },
        })
  // The start does not wait for it: until it is reachable, every look-up is a miss.
  void far?.open()
  const cache: VectorCache = far === undefined ? near : new TieredVectorCache({ near, far, clock })
  const batches = new MicroBatches(wait)
  const digestsFor = vectorDigests(secrets.current)
  return {
    cache,
    sharedCacheTrouble: far && (() => (far.state() === 'away' ? lastError : undefined)),
    averageItems: (model) => batches.averageItems(model),
    sharingOf: sharingBy({
      cache,
      batches,
      digestsFor,
      isTrusted: (...made) => guard.isTrusted(...made),
      isConfirmed: (...made) => guard.isConfirmed(...made),
    }),
    [Symbol.asyncDispose]: () => cache.close(),
  }
}
