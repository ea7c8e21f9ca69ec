/** What can be connected: known providers, upstreams before they are declared, and the models they would bring. */
import type { DialectName, Model, Upstream } from './catalog.ts'

export interface KnownProvider {
  readonly id: string
  readonly name: string
  readonly dialect: DialectName
  /** Its published address. Undefined when its package knows it, or the operator runs it. */
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

/** An upstream that may be declared, or its problems. */
export type TriedUpstream =
  | {
      readonly upstream: Upstream
      /** `listed`: in the upstream's own names. Undefined: it has no list, so all that the facts know of its provider. */
      readonly offer: (listed: readonly string[] | undefined) => readonly OfferedModel[]
    }
  | { readonly problems: readonly string[] }
