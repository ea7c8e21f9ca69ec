/** Opens the list of suspect vectors. */
import { tasksOf } from '#core/node/node-role.ts'
import { StoreUnreachable } from '#ports/store.ts'
import { Suspects } from '#worker/spaces/suspects.ts'
import type { CatalogInForce } from '#worker/catalog/in-force.ts'
import type { Basics } from './basics.ts'
import type { Blobs } from './blobs.ts'
import type { Stores } from './stores.ts'

interface SuspectParts {
  readonly stores: Stores
  readonly blobs: Blobs
  readonly catalog: CatalogInForce
}

export function openSuspects(
  { settings, clock, log }: Basics,
  { stores, blobs, catalog }: SuspectParts,
): AsyncDisposable {
  const suspects = new Suspects({
    store: stores.suspects,
    blobs: blobs.kept,
    catalog: () => catalog.current,
    clock,
    isLister: stores.isEldest,
    pulse: stores.pulse,
    onTrouble: (error) => {
      if (!(error instanceof StoreUnreachable))
        log.error({ err: error }, 'suspect vectors could not be listed')
    },
  })
  if (tasksOf(settings.role).doesChores) suspects.start()
  return { [Symbol.asyncDispose]: () => suspects.stop() }
}
