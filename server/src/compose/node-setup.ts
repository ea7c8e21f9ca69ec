/** What this node says of its setup with its heartbeats: `torana doctor` compares the nodes of a database by it. */
import { itemsIn, itemText, textOfItems } from '#config/what-changed.ts'
import { listModels, type Catalog } from '#core/catalog.ts'
import type { NodeSetup } from '#ports/node-setup.ts'
import { yieldLoop } from '#runtime/event-loop.ts'
import { peppersOf } from '#runtime/secret.ts'
import type { Basics } from './basics.ts'
import type { Blobs } from './blobs.ts'
import type { CatalogInForce } from './catalog.ts'
import type { Stores } from './stores.ts'

export interface NodeSetupParts {
  readonly stores: Pick<Stores, 'describe' | 'connections'>
  readonly catalog: Pick<CatalogInForce, 'declared' | 'follow'>
  readonly blobs: Pick<Blobs, 'place'>
}

export function openNodeSetup(
  { secrets, log }: Pick<Basics, 'secrets' | 'log'>,
  { stores, catalog, blobs }: NodeSetupParts,
): AsyncDisposable {
  // A configuration holds secrets, so its digests are keyed.
  const { id: keyedBy, digestOf } = peppersOf(secrets).current
  let described: Catalog | undefined
  let last = Promise.resolve()
  const describe = (): void => {
    const { declared } = catalog
    // Stored keys and credentials change often, what is declared does not.
    if (declared === described) return
    described = declared
    last = last
      .then(async () => {
        const configuration = await digestsOf(declared, digestOf)
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

/** Prices are a part of their own, although models have them: nodes that charge differently are the worst case. */
async function digestsOf(
  catalog: Catalog,
  digestOf: (text: string) => string,
): Promise<NodeSetup['configuration']> {
  const items = await itemsIn(catalog, yieldLoop)
  const prices = new Map(
    listModels(catalog).flatMap(({ deployments }) =>
      deployments.map(({ id, price }): [string, string] => [id, itemText(price ?? null)]),
    ),
  )
  const digests: Record<string, string> = {}
  for (const [part, of] of Object.entries({ prices, ...items })) {
    digests[part] = digestOf(textOfItems(of))
    await yieldLoop()
  }
  return digests
}
