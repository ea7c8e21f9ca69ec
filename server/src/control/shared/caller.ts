/** The caller of a request at the control API, and what that caller may see. */
import type { FastifyRequest } from 'fastify'
import type { Player, PlayerKind } from '#core/access/actor.ts'
import { may, rolesWith, type Permission, type Role } from '#core/access/permission.ts'
import { Fault } from '#core/fault/fault.ts'
import type { Actor } from '#ports/audit.ts'

/** A person or a program that showed who it is. */
export interface Caller {
  readonly kind: PlayerKind
  /** Its name in the audit: a member's mail address, or the name of a token. */
  readonly actor: string
  readonly role: Role
  /** The projects that it may see. null: all. */
  readonly projects: readonly string[] | null
  /** It may only read, whatever its role. */
  readonly isReadOnly: boolean
  /** Undefined: a token. */
  readonly member?: { readonly id: string; readonly name: string; readonly email: string } | undefined
  /** The address that its request came from, as trusted proxies report it. */
  readonly address?: string | undefined
  /** Which of the member's sessions it is. */
  readonly sessionId?: string | undefined
  /**
   * Whether the store still accepts what the caller showed, with the same rights. A stream asks while it goes on. Absent: a
   * token of the node itself, which is valid until the node stops.
   */
  readonly isInForce?: (() => Promise<boolean>) | undefined
}

/** The caller as it plays in the playground of a project. */
export function playerOf({ kind, actor }: Pick<Caller, 'kind' | 'actor'>): Player {
  return { kind, name: actor }
}

/** The caller with a token of the node itself: no project is hidden from it. */
export function nodeCaller(actor: string): Caller {
  return { kind: 'node', actor, role: 'admin', projects: null, isReadOnly: false }
}

/**
 * What a route asks of its caller. `anyone` is for routes before the sign-in; `signed-in` for what concerns the caller
 * alone.
 */
export type RouteAccess = Permission | 'anyone' | 'signed-in'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Every route of the control API has one: a route without it can't be registered. */
    permission?: RouteAccess
    /** It reads the store: its handler waits for the turn of its caller. */
    takesTurn?: boolean
  }
}

/** Set on every request before its handler. */
export const CALLER = 'caller'

export function callerIn(request: Pick<FastifyRequest, 'getDecorator'>): Caller {
  const caller = request.getDecorator<Caller | null>(CALLER)
  if (caller === null) throw new Error('a route for anyone has no caller')
  return caller
}

/** The person or program that asks, for the audit. */
export function actorIn(request: Pick<FastifyRequest, 'getDecorator'>): Actor {
  const { kind, actor, address } = callerIn(request)
  return { kind, name: actor, address }
}

export function isReading(method: string): boolean {
  return method === 'GET' || method === 'HEAD'
}

/** Throws when the caller may not use the route. */
export function checkAccess(caller: Caller, access: RouteAccess, method: string): void {
  if (caller.isReadOnly && !isReading(method)) throw new Fault('forbidden', `${caller.actor} may read only.`)
  if (access === 'anyone' || access === 'signed-in' || may(caller.role, access)) return
  throw new Fault(
    'forbidden',
    `This needs the permission ${access}, which ${rolesWith(access).join(' and ')} have. ${caller.actor} is ${caller.role}.`,
  )
}

/**
 * The projects whose rows the caller may see, narrowed to the one it asked for. Undefined: all, without a filter. Every list
 * with rows of projects is filtered by it.
 */
export function visibleProjects({ actor, projects }: Caller, asked?: string): readonly string[] | undefined {
  if (asked === undefined) return projects ?? undefined
  if (projects !== null && !projects.includes(asked))
    throw new Fault('forbidden', `${actor} is no member of the project ${asked}.`, { param: 'project' })
  return [asked]
}

export function maySee({ projects }: Pick<Caller, 'projects'>, project: string | undefined): boolean {
  return projects === null || (project !== undefined && projects.includes(project))
}

/** What belongs to another project does not exist for this caller. */
export function checkSeen(caller: Caller, project: string | undefined, what: string): void {
  if (!maySee(caller, project)) throw new Fault('not_found', `There is no ${what}.`)
}
