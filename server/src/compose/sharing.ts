/** Composition of what requests share: the vector cache, texts on their way, and micro-batches. */
import { hash } from 'node:crypto'
import type { EmbeddingModel } from '#core/catalog.ts'
import type { Input } from '#core/embedding/input.ts'
import type { VectorCache } from '#ports/vector-cache.ts'
import type { EmbedDependencies } from '#request/embeddings/embed.ts'
import { MicroBatches } from '#request/embeddings/micro-batch.ts'
import { Flights, type SharingRules } from '#request/embeddings/shared-vectors.ts'
import { wait } from '#runtime/clock.ts'
import { cacheKeyOf } from '#runtime/secret.ts'
import { MemoryVectorCache } from '#stores/memory/vector-cache.ts'
import { RedisVectorCache } from '#stores/redis/vector-cache.ts'
import { TieredVectorCache } from '#stores/tiered-vector-cache.ts'
import type { Basics } from './basics.ts'

export interface SharingParts {
  readonly isTrusted: SharingRules['isTrusted']
}

export interface SharedVectors extends AsyncDisposable {
  readonly sharingOf: EmbedDependencies['sharingOf']
  readonly cache: VectorCache
  /** Why the cache at CACHE_URL can't be used; undefined: it answers. The function is undefined without CACHE_URL. */
  readonly sharedCacheTrouble: (() => string | undefined) | undefined
  /** Texts of a shared call, on average over this node's life. Undefined: there was none. */
  readonly averageItems: (model: string) => number | undefined
}

export function openSharing(basics: Basics, { isTrusted }: SharingParts): SharedVectors {
  const { secrets, clock, log, limits } = basics
  const near = new MemoryVectorCache({ maxBytes: limits.cacheBytes, clock })
  const { cache: url } = basics.storeUrls
  let lastError = 'not reached yet'
  const far =
    url === undefined
      ? undefined
      : new RedisVectorCache({
          url,
          clock,
          events: (event) => {
            if (event.kind === 'away') lastError = event.error.message
            log.warn({ event }, 'the vector cache in Redis dropped entries')
          },
        })
  // The start does not wait for it: until it is there, every look-up is a miss.
  void far?.open()
  const cache: VectorCache = far === undefined ? near : new TieredVectorCache({ near, far, clock })
  const flights = new Flights()
  const batches = new MicroBatches(wait)
  const digestKey = cacheKeyOf(secrets.current).toHex()
  const termsByModel = new WeakMap<EmbeddingModel, string>()
  const termsOf = (model: EmbeddingModel): string => {
    const known = termsByModel.get(model) ?? termsText(model)
    termsByModel.set(model, known)
    return known
  }
  return {
    cache,
    sharedCacheTrouble: far && (() => (far.state() === 'away' ? lastError : undefined)),
    averageItems: (model) => batches.averageItems(model),
    sharingOf(model, request, { project, space, cacheUse }) {
      const { microBatch } = model
      if (model.cache === undefined && microBatch === undefined) return undefined
      const prefix = `${digestKey}${JSON.stringify([project, space, request.inputType ?? '', termsOf(model)])}\n`
      return {
        cache: model.cache && { store: cache, ttlMs: model.cache.ttlMs },
        mayRead: cacheUse === 'usual',
        mayKeep: cacheUse !== 'none',
        digestsOf: (input) => digestsOf(input, prefix),
        isTrusted: model.isGuarded ? isTrusted : () => true,
        flights,
        batches,
        microBatch,
      }
    },
    [Symbol.asyncDispose]: () => cache.close(),
  }
}

/** What else decides on a vector: how the model is told of its task, and under which names it runs. */
function termsText({ facts, deployments }: EmbeddingModel): string {
  const names = new Set(deployments.map(({ upstreamModel }) => upstreamModel))
  return JSON.stringify([facts.inputType, facts.tokenizer, [...names].sort()])
}

/**
 * A text and the token ids that stand for it are two keys: the node can't know whether an
 * upstream reads them alike. The prefix begins with the node's secret, so that a reader of
 * a shared cache can not try texts on its keys.
 */
function digestsOf(input: Input, prefix: string): readonly string[] {
  if (input.kind === 'texts')
    return input.texts.map((text) =>
      // UTF-8 has one stand-in for every half of a surrogate pair: different texts would share a vector.
      text.isWellFormed()
        ? hash('sha256', `${prefix}text\n${text}`)
        : hash('sha256', Buffer.concat([Buffer.from(`${prefix}units\n`), Buffer.from(text, 'utf16le')])),
    )
  return input.tokens.map((ids) => hash('sha256', `${prefix}tokens\n${ids.join()}`))
}
