import { listModels, type Catalog, type Upstream } from '#core/catalog/catalog.ts'

/**
 * Ids of the deployments that lead to the same upstream model with the same credential in both catalogs. What the scheduler has
 * learned of any other deployment no longer holds.
 */
export function unchangedIn(before: Catalog, now: Catalog): ReadonlySet<string> {
  const old = destinationsIn(before)
  const same = [...destinationsIn(now)].filter(([id, destination]) => old.get(id) === destination)
  return new Set(same.map(([id]) => id))
}

/** What each deployment leads to, and with which credential, by id. */
function destinationsIn(catalog: Catalog): ReadonlyMap<string, string> {
  const deployments = listModels(catalog).flatMap<{ id: string; upstream: Upstream; upstreamModel: string }>(
    (model) => [...model.deployments],
  )
  return new Map(
    deployments.map(({ id, upstream, upstreamModel }) => [id, JSON.stringify([upstream, upstreamModel])]),
  )
}
