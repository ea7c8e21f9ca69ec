/** What an upstream says of itself, asked before anybody relies on it. */
import type { Upstream } from '#core/catalog.ts'

/** `unlisted`: its wire has no list of models, so that nothing was asked and nothing is proven. */
export type ListedModels =
  | { readonly kind: 'listed'; readonly ids: readonly string[] }
  | { readonly kind: 'unlisted' }

export interface ModelListing {
  /**
   * The models of an upstream, in its own names, by one bounded call over the same connections as traffic. Costs nothing there.
   * Rejects with `UpstreamFailure`.
   */
  list(upstream: Upstream): Promise<ListedModels>
}
