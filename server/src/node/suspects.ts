/** Opens suspect windows: the list of their vectors, and their repair. */
import { tasksOf } from '#core/node/node-role.ts'
import { StoreUnreachable } from '#ports/store.ts'
import { InputBytes } from '#request/batches/input-bytes.ts'
import { hashing } from '#runtime/hashing.ts'
import { Suspects } from '#worker/spaces/suspects.ts'
import type { CatalogInForce } from '#worker/catalog/in-force.ts'
import type { Basics } from './basics.ts'
import type { Blobs } from './blobs.ts'
import type { Stores } from './stores.ts'

export interface SuspectNodeParts {
  readonly stores: Pick<Stores, 'suspects' | 'batches' | 'files' | 'isEldest' | 'pulse'>
  readonly blobs: Blobs
  readonly catalog: CatalogInForce
}

export interface OpenSuspects extends AsyncDisposable, Pick<Suspects, 'repair'> {}

export function openSuspects(basics: Basics, { stores, blobs, catalog }: SuspectNodeParts): OpenSuspects {
  const { settings, clock, identifiers, log } = basics
  const { suspects: store, batches, files, isEldest } = stores
  const input = new InputBytes(files, blobs.kept)
  const suspects = new Suspects({
    store,
    batches,
    files,
    blobs: blobs.kept,
    readInput: (fileId, range) => input.read(fileId, range),
    catalog: () => catalog.current,
    clock,
    identifiers,
    hashing,
    isLister: isEldest,
    pulse: stores.pulse,
    onTrouble: (error) => {
      if (!(error instanceof StoreUnreachable))
        log.error({ err: error }, 'suspect vectors could not be listed')
    },
  })
  if (tasksOf(settings.role).doesChores) suspects.start()
  return {
    repair: (window, actor) => suspects.repair(window, actor),
    [Symbol.asyncDispose]: () => suspects.stop(),
  }
}
