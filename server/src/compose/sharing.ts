/** Composition of what requests share: the vector cache, texts that are on their way, and calls for several at once. */
import { hash } from 'node:crypto'
import type { EmbeddingModel } from '#core/catalog.ts'
import type { Input } from '#core/embedding/input.ts'
import type { Limits, Settings } from '#core/settings.ts'
import type { Clock } from '#ports/clock.ts'
import type { VectorCache } from '#ports/vector-cache.ts'
import type { EmbedDependencies } from '#request/embeddings/embed.ts'
import { MicroBatches } from '#request/embeddings/micro-batch.ts'
import { Flights, type Sharing } from '#request/embeddings/shared-vectors.ts'
import { wait } from '#runtime/clock.ts'
import { cacheKeyOf, loadSecret } from '#runtime/secret.ts'
import { MemoryVectorCache } from '#stores/memory/vector-cache.ts'
import { RedisVectorCache } from '#stores/redis/vector-cache.ts'
import { TieredVectorCache } from '#stores/tiered-vector-cache.ts'
import type { Log } from '#telemetry/log.ts'

export interface SharingParts {
  readonly clock: Clock
  readonly log: Log
  readonly limits: Limits
  readonly isTrusted: Sharing['isTrusted']
}

export interface OpenSharing {
  readonly sharingOf: EmbedDependencies['sharingOf']
  readonly cache: VectorCache
  close(): Promise<void>
}

export function openSharing(settings: Settings, parts: SharingParts): OpenSharing {
  const { clock, log, limits, isTrusted } = parts
  const near = new MemoryVectorCache({ maxBytes: limits.cacheBytes, clock })
  const { cacheUrl } = settings
  const far =
    cacheUrl === undefined
      ? undefined
      : new RedisVectorCache({
          url: cacheUrl,
          clock,
          events: (event) => log.warn({ event }, 'the vector cache in Redis lost something'),
        })
  // Nobody waits for it: until it is there, everything is a miss.
  void far?.open()
  const cache: VectorCache = far === undefined ? near : new TieredVectorCache({ near, far, clock })
  const flights = new Flights()
  const batches = new MicroBatches(wait)
  const secret = loadSecret(settings.secret, settings.dataDir)
  const digestKey = cacheKeyOf(secret).toHex()
  const termsByModel = new WeakMap<EmbeddingModel, string>()
  const termsOf = (model: EmbeddingModel): string => {
    const known = termsByModel.get(model) ?? termsText(model)
    termsByModel.set(model, known)
    return known
  }
  return {
    cache,
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
    close: () => cache.close(),
  }
}

/** What else makes a vector: a model that is told of its task in other words, or runs under another name, makes others. */
function termsText({ facts, deployments }: EmbeddingModel): string {
  const names = new Set(deployments.map(({ upstreamModel }) => upstreamModel))
  return JSON.stringify([facts.inputType, facts.tokenizer, [...names].sort()])
}

/**
 * A text and token ids that stand for it are two keys: whether an upstream reads them alike is not ours to say. The prefix
 * begins with the node's secret, so that who reads the keys of a shared cache can not try texts on them.
 */
function digestsOf(input: Input, prefix: string): readonly string[] {
  if (input.kind === 'texts')
    return input.texts.map((text) =>
      // UTF-8 has one stand-in for every half of a surrogate pair: texts that differ only in those would share a vector.
      text.isWellFormed()
        ? hash('sha256', `${prefix}text\n${text}`)
        : hash('sha256', Buffer.concat([Buffer.from(`${prefix}units\n`), Buffer.from(text, 'utf16le')])),
    )
  return input.tokens.map((ids) => hash('sha256', `${prefix}tokens\n${ids.join()}`))
}
