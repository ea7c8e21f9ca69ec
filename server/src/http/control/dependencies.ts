/** What the routes of the control API need from outside. */
import type { Catalog, Project } from '#core/catalog.ts'
import type { Fault } from '#core/fault/fault.ts'
import type { AuditLog } from '#ports/audit.ts'
import type { CredentialStore } from '#ports/credentials.ts'
import type { KeyStore, Peppers } from '#ports/key-store.ts'
import type { BooksDependencies } from './books.ts'
import type { SpacesDependencies } from './spaces.ts'

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
  /** Told of each fault, with its cause, which the caller does not see. */
  readonly onFault: (fault: Fault, requestId: string) => void
}
