/** What every route of the control API has at hand: the types of its schemas. */
import type { FastifyInstance } from 'fastify'
import type { ZodTypeProvider } from 'fastify-type-provider-zod'

/** A scope whose handlers know the types of their schemas. */
export const typed = (scope: FastifyInstance) => scope.withTypeProvider<ZodTypeProvider>()
export type Api = ReturnType<typeof typed>
