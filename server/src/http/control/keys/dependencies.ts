/** What routes about projects and keys need from outside. */
import type { Catalog, Project } from '#core/catalog.ts'
import type { KeyReports } from '#ports/key-reports.ts'
import type { KeyStore, Peppers } from '#ports/key-store.ts'

export interface KeyDependencies {
  readonly keyStore: KeyStore
  readonly peppers: Peppers
  /** Undefined on a node that keeps nothing. */
  readonly keyReports?: KeyReports | undefined
  /** Makes a new secret in Torana's own form. */
  readonly newSecret: () => string
  /** What torana.yaml declares, without the credentials that the store adds. */
  readonly catalog: () => Catalog
  /** Projects and keys of torana.yaml and of the environment. The API lists them and does not change them. */
  readonly declared: () => readonly Project[]
  readonly nowMs: () => number
}
