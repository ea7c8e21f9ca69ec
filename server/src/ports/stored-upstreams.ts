/** Upstreams and models that admins added while nodes run. The builder of the catalog decides what they mean. */
import type { Actor } from './audit.ts'

/** As torana.yaml would have it, in JSON values. Never holds a secret. */
export type StoredEntry = Readonly<Record<string, unknown>>

export interface StoredUpstream {
  readonly name: string
  readonly entry: StoredEntry
}

export interface StoredDeployment {
  /** The public id of the model. */
  readonly model: string
  readonly upstream: string
  /** Facts of the model that nothing else knows. */
  readonly entry: StoredEntry
}

export interface StoredAdditions {
  /** By name. */
  readonly upstreams: readonly StoredUpstream[]
  /** By model, in the order in which they were added. */
  readonly deployments: readonly StoredDeployment[]
}

export const NO_ADDITIONS: StoredAdditions = { upstreams: [], deployments: [] }

/**
 * Every change is one step with its audit entry and the next version of the directory, so that all nodes learn of it within
 * two seconds. A change that can't be made rejects with `ChangeRefused`; trouble with the store with `StoreUnreachable`.
 */
export interface StoredUpstreams {
  read(): Promise<StoredAdditions>
  /** Refused: `exists`. */
  addUpstream(upstream: StoredUpstream, actor: Actor): Promise<void>
  /** Replaces its entry. Refused: `missing`. */
  changeUpstream(upstream: StoredUpstream, actor: Actor): Promise<void>
  /** Refused: `missing`, and `in-use` while a stored deployment leads to it. */
  dropUpstream(name: string, actor: Actor): Promise<void>
  /** Adds all or none. Refused: `exists`. */
  addDeployments(deployments: readonly StoredDeployment[], actor: Actor): Promise<void>
  /** Takes the model away with all its stored deployments. Refused: `missing`. */
  dropModel(model: string, actor: Actor): Promise<void>
}
