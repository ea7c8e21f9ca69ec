/** What the routes of the control API need from outside. */
import type { Catalog, Project } from '#core/catalog.ts'
import type { Fault } from '#core/fault/fault.ts'
import type { AuditLog } from '#ports/audit.ts'
import type { CredentialStore } from '#ports/credentials.ts'
import type { KeyStore, Peppers } from '#ports/key-store.ts'
import type { ClientAddress } from '../client-address.ts'
import type { FailedKeys } from '../gateway/caller/failed-keys.ts'
import type { BooksDependencies } from './books.ts'
import type { SpacesDependencies } from './spaces.ts'

/** A request as the log shows it. */
export interface ControlRequest {
  readonly requestId: string
  readonly client: string
  readonly method: string
  /** Without the query. */
  readonly path: string
}

export interface ApiDependencies {
  readonly keyStore: KeyStore
  readonly credentials: CredentialStore
  readonly audit: AuditLog
  /** Undefined on a node that keeps nothing. */
  readonly books?: BooksDependencies | undefined
  readonly spaces?: SpacesDependencies | undefined
  readonly peppers: Peppers
  /** Makes a new secret in Torana's own form. */
  readonly newSecret: () => string
  /** What torana.yaml declares, without the credentials that the store adds. */
  readonly catalog: () => Catalog
  /** Projects and keys of torana.yaml and of the environment. The API lists them and does not change them. */
  readonly declared: () => readonly Project[]
  /** The name of the person or program that holds the token. Undefined: no admin token of this node. */
  readonly actorOf: (token: string) => string | undefined
  readonly nowMs: () => number
  readonly docsUrl: () => string
  readonly clientAddress: ClientAddress
  /** Wrong admin tokens, by the address that they came from. */
  readonly failedTokens: FailedKeys
  /** Told of each fault, with its cause, which the caller does not see. */
  readonly onFault: (fault: Fault, request: ControlRequest) => void
  /** Told of each request with a valid token, when it is answered. */
  readonly onAdminRequest: (
    request: ControlRequest & { readonly actor: string; readonly status: number },
  ) => void
}
