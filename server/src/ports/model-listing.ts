/** Asks an upstream for its models, before any request relies on it. */
import type { Upstream } from '#core/catalog/catalog.ts'

/** `unlisted`: its wire has no list of models, so nothing was asked and nothing is proven. */
export type ListedModels =
  | {
      readonly kind: 'listed'
      readonly ids: readonly string[]
      /** The days on which it shuts models down, by id. */
      readonly ends: ReadonlyMap<string, string>
      /** Models whose day is written in a form that Torana does not read. */
      readonly unreadEnds: readonly string[]
    }
  | { readonly kind: 'unlisted' }

export interface ModelListing {
  /**
   * The models of an upstream, in its own names, by one bounded call over the same connections as traffic. The call is free
   * of charge. Rejects with `UpstreamFailure`.
   */
  list(upstream: Upstream): Promise<ListedModels>
}
