/** Upstreams and models that admins keep in the store. The builder of the catalog decides what their entries mean. */
import type { Catalog } from '#core/catalog/catalog.ts'
import type { Actor } from './audit.ts'
import type { CredentialRecord } from './credentials.ts'

/** As torana.yaml would have it, in JSON values. Never holds a secret. */
export type StoredEntry = Readonly<Record<string, unknown>>

export type ObjectKind = 'upstream' | 'model'

export interface StoredObject {
  readonly object: ObjectKind
  /** The name of an upstream, or the public id of a model. */
  readonly name: string
  readonly entry: StoredEntry
  /** Another one after every change of the object. */
  readonly revision: bigint
  /** The name of the actor who changed it last. */
  readonly by: string
  readonly atMs: number
}

/** A part of an object that can't be served, and why. */
interface ObjectProblem {
  readonly object: ObjectKind
  readonly name: string
  /** `models.x.deployments[0].upstream: there is no upstream y`. */
  readonly text: string
}

/** What the configuration and objects of the store make together, without credentials, prices and ends of the store. */
export interface ExtendedCatalog {
  readonly catalog: Catalog
  /** What is left out. */
  readonly problems: readonly ObjectProblem[]
}

/** One object before and after a change. */
export interface ChangedObject {
  readonly object: ObjectKind
  readonly name: string
  /** Its name before, if that was another. */
  readonly renamedFrom?: string | undefined
  /** null: it was not there. */
  readonly before: StoredEntry | null
  /** null: it is deleted. */
  readonly after: StoredEntry | null
}

/**
 * What happens to the credential of an upstream, in the same step as the change and under its new name. A credential follows its
 * upstream from name to name, and is deleted with it, without a step of its own.
 */
export type CredentialStep =
  /** A secret that is bound to another address is dropped. */
  | { readonly kind: 'bind'; readonly upstream: string; readonly baseUrl: string }
  | { readonly kind: 'put'; readonly upstream: string; readonly baseUrl: string; readonly secret: string }
  | { readonly kind: 'drop'; readonly upstream: string }

export interface PreparedChange {
  readonly summary: string
  readonly objects: readonly ChangedObject[]
  readonly credentials: readonly CredentialStep[]
  /** Deployments with another id: their price, drain and standing in their space follow. The ledger keeps the old id. */
  readonly renamedDeployments: readonly { readonly from: string; readonly to: string }[]
  /** Deployments whose price is in their entry from now on: a price of the price store is dropped. */
  readonly pricedDeployments: readonly string[]
  /** The change that it takes back. */
  readonly reverts?: bigint | undefined
}

export interface SavedChange {
  /** Also the revision of each object that it changed. */
  readonly id: bigint
  readonly atMs: number
  readonly by: string
  readonly summary: string
  readonly objects: readonly ChangedObject[]
  /** Those that a step of the change stored, bound or dropped, as it left them. */
  readonly credentials: readonly CredentialRecord[]
}

/**
 * Every change is one step with its row of the history, its audit entries and the next version of the directory, so that all
 * nodes learn of it within two seconds. Trouble with the store rejects with `StoreUnreachable`.
 */
export interface StoredConfiguration {
  /** Upstreams first, each kind by name. */
  read(): Promise<readonly StoredObject[]>
  /**
   * `prepare` gets what the store holds while no other change can be made, and returns what to write, or throws to prevent the
   * change. Rejects with `ChangeRefused` when the store is full.
   */
  change(prepare: (before: readonly StoredObject[]) => PreparedChange, actor: Actor): Promise<SavedChange>
}

/** A project of the store with its keys, as fields of torana.yaml. Secrets are names of variables. */
export interface ExportedProject {
  readonly name: string
  readonly entry: StoredEntry
  readonly keys: readonly StoredEntry[]
}

/** What the store adds to torana.yaml. */
interface ExportedParts {
  readonly objects: readonly StoredObject[]
  /** Prices of the price store. */
  readonly prices: readonly { readonly deployment: string; readonly form: unknown }[]
  /** Upstreams whose secret is in the store: the text names a variable for each. */
  readonly credentials: readonly string[]
  readonly projects: readonly ExportedProject[]
  readonly alerts: ExportedAlerts
}

/** Rules and channels of the store, by name, as fields of torana.yaml. */
export interface ExportedAlerts {
  /** `secrets`: fields that are left out. The text names a variable for each. */
  readonly channels: readonly {
    readonly name: string
    readonly entry: StoredEntry
    readonly secrets: readonly string[]
  }[]
  /** `channels`: of the store unless they are declared. */
  readonly rules: readonly {
    readonly name: string
    readonly entry: StoredEntry
    readonly channels: readonly { readonly name: string; readonly isDeclared: boolean }[]
  }[]
}

export const NO_EXPORTED_ALERTS: ExportedAlerts = { channels: [], rules: [] }

export interface ExportedLine {
  readonly text: string
  /** The line of torana.yaml that it is. null: it comes from the store. */
  readonly declaredAt: number | null
}

/** Writes one torana.yaml of the configuration in force and these parts, without a secret. */
export type ExportConfiguration = (parts: ExportedParts) => Promise<readonly ExportedLine[]>
