/** The control API: everything under `/api/v1` of the private listener. */
import type { FastifyInstance } from 'fastify'
import { serializerCompiler, validatorCompiler } from 'fastify-type-provider-zod'
import { faultBody, faultHeaders } from '../faults.ts'
import { presentedKey } from '../gateway/caller/presented-key.ts'
import { registerAudit } from './audit.ts'
import { registerBooks } from './books.ts'
import { registerCredentials } from './credentials.ts'
import { controlFault, noToken, notFound, wrongToken } from './faults.ts'
import { registerKeys } from './keys.ts'
import { registerProjects } from './projects.ts'
import type { ApiDependencies } from './dependencies.ts'
import { ACTOR, typed } from './route.ts'
import { registerSpaces } from './spaces.ts'

export function registerApi(app: FastifyInstance, dependencies: ApiDependencies): void {
  const { actorOf, docsUrl, onFault } = dependencies
  void app.register(
    async (scope) => {
      scope.setValidatorCompiler(validatorCompiler)
      scope.setSerializerCompiler(serializerCompiler)
      scope.decorateRequest(ACTOR, '')
      // The check stands on the scope: a route that is added later can't forget it. It runs before the body is read.
      scope.addHook('onRequest', async (request) => {
        const token = presentedKey({ authorization: request.headers.authorization })
        if (token === undefined) throw noToken()
        const actor = actorOf(token)
        if (actor === undefined) throw wrongToken()
        request.setDecorator(ACTOR, actor)
      })
      scope.addHook('onSend', async (request, reply) => {
        void reply.headers({ 'x-request-id': request.id, 'cache-control': 'no-store' })
      })
      scope.setErrorHandler((error, request, reply) => {
        const fault = controlFault(error)
        onFault(fault, request.id)
        return reply
          .code(fault.entry.status)
          .headers(faultHeaders(fault, request.id))
          .serializer((body: string) => body)
          .send(faultBody(fault, request.id, docsUrl()))
      })
      scope.setNotFoundHandler((request) => {
        throw notFound(`${request.method} ${request.url.split('?')[0]?.slice(0, 200)} does not exist.`)
      })
      const api = typed(scope)
      registerProjects(api, dependencies)
      registerKeys(api, dependencies)
      registerCredentials(api, dependencies)
      registerAudit(api, dependencies)
      if (dependencies.books) registerBooks(api, dependencies.books)
      if (dependencies.spaces) registerSpaces(api, dependencies.spaces)
    },
    { prefix: '/api/v1' },
  )
}
