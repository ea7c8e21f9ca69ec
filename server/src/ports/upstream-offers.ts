/** What can be connected: known providers, whether an upstream may be declared, and which models it would bring. */
import type { DialectName, Model, Upstream } from '#core/catalog.ts'
import type { UpstreamFailure } from '#core/fault/failure.ts'
import type { StoredEntry } from './stored-upstreams.ts'

export interface KnownProvider {
  readonly id: string
  readonly name: string
  readonly dialect: DialectName
  /** Its published address. Undefined: its package knows it, or it runs wherever the operator put it. */
  readonly baseUrl: string | undefined
  readonly embeddingModels: number
  readonly imageModels: number
}

export interface OfferedModel {
  /** The public id that it would get. */
  readonly id: string
  /** Undefined: the built-in facts do not know it. */
  readonly model: Model | undefined
  /** The day on which its price was read. */
  readonly asOf: string | undefined
}

export interface CheckedUpstream {
  readonly durationMs: number
  /** Why there is no list. */
  readonly failure: UpstreamFailure | undefined
  /** Whether the upstream itself named the models. Otherwise they are those that the facts know of its provider. */
  readonly isListed: boolean
  readonly models: readonly OfferedModel[]
}

export interface UpstreamOffers {
  providers(): readonly KnownProvider[]
  /** By the same rules as torana.yaml's. */
  build(
    name: string,
    entry: StoredEntry,
  ): { readonly upstream: Upstream } | { readonly problems: readonly string[] }
  /** Asks the upstream at its own address, with this secret, for its models. Keeps nothing. */
  check(name: string, entry: StoredEntry, secret: string | undefined): Promise<CheckedUpstream>
}
