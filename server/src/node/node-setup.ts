/** Keeps the setup in this node's heartbeats up to date: `torana doctor` compares the nodes of a database by it. */
import { sectionDigests } from '#config/what-changed.ts'
import type { Catalog } from '#core/catalog/catalog.ts'
import { yieldLoop } from '#runtime/event-loop.ts'
import { peppersOf } from '#runtime/secret.ts'
import type { Basics } from './basics.ts'
import type { Blobs } from './blobs.ts'
import type { CatalogInForce } from '#worker/catalog/in-force.ts'
import type { Stores } from './stores.ts'

interface NodeSetupParts {
  readonly stores: Stores
  readonly catalog: CatalogInForce
  readonly blobs: Blobs
}

export function openNodeSetup(
  { secrets, log }: Basics,
  { stores, catalog, blobs }: NodeSetupParts,
): AsyncDisposable {
  // A configuration holds secrets, so its digests are keyed.
  const { id: keyedBy, digestOf } = peppersOf(secrets).current
  let described: Catalog | undefined
  let last = Promise.resolve()
  const describe = (): void => {
    const { declared } = catalog
    // Stored keys and credentials change often, the declared catalog does not.
    if (declared === described) return
    described = declared
    last = last
      .then(async () => {
        const configuration = await sectionDigests(declared, digestOf, yieldLoop)
        stores.describe({
          configuration,
          keyedBy,
          blobPlace: blobs.place ?? null,
          connections: stores.connections,
        })
      })
      .catch((error: unknown) => log.error({ err: error }, 'the setup of this node could not be described'))
  }
  catalog.follow(describe)
  describe()
  return { [Symbol.asyncDispose]: () => last }
}
