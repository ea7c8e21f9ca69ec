/** What every route of the control API has at hand. */
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { ZodTypeProvider } from 'fastify-type-provider-zod'
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
  /** Undefined for a node that keeps nothing. */
  readonly books?: BooksDependencies | undefined
  readonly spaces?: SpacesDependencies | undefined
  readonly peppers: Peppers
  /** A new secret in our own form. */
  readonly newSecret: () => string
  /** What torana.yaml declares, without the credentials that the store adds. */
  readonly catalog: () => Catalog
  /** Projects and keys of torana.yaml and of the environment: listed, and read-only here. */
  readonly declared: () => readonly Project[]
  /** Whose token it is; undefined when it is nobody's. */
  readonly actorOf: (token: string) => string | undefined
  readonly nowMs: () => number
  readonly docsUrl: () => string
  /** Told of what went wrong, with the cause that nobody else sees. */
  readonly onFault: (fault: Fault, requestId: string) => void
}

/** A scope whose handlers know the types of their schemas. */
export const typed = (scope: FastifyInstance) => scope.withTypeProvider<ZodTypeProvider>()
export type Api = ReturnType<typeof typed>

/** Set on every request before its handler. */
export const ACTOR = 'actor'

/** Who asks, for the audit. */
export function actorIn(request: Pick<FastifyRequest, 'getDecorator'>): string {
  return request.getDecorator<string>(ACTOR)
}
