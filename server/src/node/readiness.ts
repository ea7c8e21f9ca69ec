import type { Listeners } from '#http/listeners.ts'
import { wait } from '#runtime/clock.ts'
import type { CatalogInForce } from '#worker/catalog/in-force.ts'
import { NodeReadiness } from '#worker/readiness.ts'
import type { Basics } from './basics.ts'
import type { Directory } from './directory.ts'
import type { Stores } from './stores.ts'

interface ReadinessParts {
  readonly listeners: Listeners
  readonly directory: Directory
  readonly stores: Stores
  readonly catalog: CatalogInForce
  readonly signal: AbortSignal
  readonly ended: PromiseWithResolvers<void>
}

export function readinessOf(
  { clock, log }: Basics,
  { listeners, directory, stores, catalog, signal, ended }: ReadinessParts,
): NodeReadiness {
  return new NodeReadiness({
    clock,
    wait,
    listeners,
    unable: () => directory.notReady() ?? stores.failure(),
    wrongSinceMs: () => catalog.refusal?.sinceMs,
    signal,
    ended: ended.promise,
    onWaiting: (reason) => log.warn({ reason }, 'the public port opens when this node can serve'),
  })
}
