/** What every route of the control API has at hand: the types of its schemas, and the name of the actor. */
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { ZodTypeProvider } from 'fastify-type-provider-zod'

/** A scope whose handlers know the types of their schemas. */
export const typed = (scope: FastifyInstance) => scope.withTypeProvider<ZodTypeProvider>()
export type Api = ReturnType<typeof typed>

/** Set on every request before its handler. */
export const ACTOR = 'actor'

/** The name of the person or program that asks, for the audit. */
export function actorIn(request: Pick<FastifyRequest, 'getDecorator'>): string {
  return request.getDecorator<string>(ACTOR)
}
