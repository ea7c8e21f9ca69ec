/** The control API: everything under `/api/v1` of the private listener. */
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { serializerCompiler, validatorCompiler } from 'fastify-type-provider-zod'
import type { Fault } from '#core/fault/fault.ts'
import { faultBody, faultHeaders } from '../faults.ts'
import { presentedKey } from '../gateway/caller/presented-key.ts'
import { registerAudit } from './audit.ts'
import { registerBooks } from './books.ts'
import { registerCredentials } from './credentials.ts'
import { controlFault, noToken, notFound, tooManyWrongTokens, wrongToken } from './faults.ts'
import { registerKeys } from './keys.ts'
import { registerProjects } from './projects.ts'
import type { ApiDependencies, ControlRequest } from './dependencies.ts'
import { ACTOR, actorIn, typed } from './route.ts'
import { registerSpaces } from './spaces.ts'

export function registerApi(app: FastifyInstance, dependencies: ApiDependencies): void {
  const { actorOf, clientAddress, docsUrl, failedTokens, onAdminRequest, onFault } = dependencies
  const shown = ({ id, raw, method, url }: FastifyRequest): ControlRequest => ({
    requestId: id,
    client: clientAddress(raw),
    method,
    path: pathIn(url),
  })
  /** The token itself is checked first, so that nobody can lock out a person who has it. */
  const refusalOf = ({ raw }: FastifyRequest): Fault => {
    const client = clientAddress(raw)
    const waitMs = failedTokens.waitMs(client)
    if (waitMs > 0) return tooManyWrongTokens(waitMs)
    const fault = wrongToken()
    failedTokens.note(client, fault)
    return fault
  }
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
        if (actor === undefined) throw refusalOf(request)
        request.setDecorator(ACTOR, actor)
      })
      scope.addHook('onSend', async (request, reply) => {
        void reply.headers({ 'x-request-id': request.id, 'cache-control': 'no-store' })
      })
      scope.addHook('onResponse', async (request, reply) => {
        const actor = actorIn(request)
        if (actor !== '') onAdminRequest({ ...shown(request), actor, status: reply.statusCode })
      })
      scope.setErrorHandler((error, request, reply) => {
        const fault = controlFault(error)
        onFault(fault, shown(request))
        return reply
          .code(fault.entry.status)
          .headers(faultHeaders(fault, request.id))
          .serializer((body: string) => body)
          .send(faultBody(fault, request.id, docsUrl()))
      })
      scope.setNotFoundHandler((request) => {
        throw notFound(`${request.method} ${pathIn(request.url)} does not exist.`)
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

function pathIn(url: string): string {
  return url.split('?', 1)[0]?.slice(0, 200) ?? ''
}
