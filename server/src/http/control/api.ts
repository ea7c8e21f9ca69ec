/** The control API: everything under `/api/v1` of the private listener. */
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { serializerCompiler, validatorCompiler } from 'fastify-type-provider-zod'
import type { Fault } from '#core/fault/fault.ts'
import { faultAnswers } from '../fault-answers.ts'
import { faultBody, faultHeaders } from '../faults.ts'
import { presentedKey } from '../gateway/caller/presented-key.ts'
import { registerAudit } from './audit/audit.ts'
import { registerBooks } from './books/books.ts'
import { registerCredentials } from './credentials/credentials.ts'
import { controlFault, noToken, notFound, tooManyWrongTokens, wrongToken } from './wire/faults.ts'
import { registerEvents } from './events/events.ts'
import { registerKeys } from './keys/keys.ts'
import { registerProjects } from './keys/projects.ts'
import type { ApiDependencies, ControlRequest } from './dependencies.ts'
import { CALLER, checkAccess, type Caller } from './access/caller.ts'
import { registerRequests } from './requests/routes.ts'
import { typed } from './wire/route.ts'
import { registerModels } from './models/routes.ts'
import { registerSpaces } from './spaces/spaces.ts'

export function registerApi(app: FastifyInstance, dependencies: ApiDependencies): void {
  const { callerOf, clientAddress, docsUrl, failedTokens, onAdminRequest, onFault } = dependencies
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
      scope.decorateRequest(CALLER, null)
      declarePermissions(scope)
      // The check stands on the scope: a route that is added later can't forget it. It runs before the body is read.
      scope.addHook('onRequest', async (request) => {
        const { permission = 'signed-in' } = request.routeOptions.config
        if (permission === 'anyone') return
        const token = presentedKey({ authorization: request.headers.authorization })
        if (token === undefined) throw noToken()
        const caller = callerOf(token)
        if (caller === undefined) throw refusalOf(request)
        request.setDecorator(CALLER, { ...caller, address: clientAddress(request.raw) })
        checkAccess(caller, permission, request.method)
      })
      scope.addHook('onSend', async (request, reply) => {
        void reply.headers({ 'x-request-id': request.id, 'cache-control': 'no-store' })
      })
      scope.addHook('onResponse', async (request, reply) => {
        const caller = request.getDecorator<Caller | null>(CALLER)
        if (caller !== null)
          onAdminRequest({ ...shown(request), actor: caller.actor, status: reply.statusCode })
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
      if (dependencies.events) registerEvents(api, dependencies.events)
      if (dependencies.models) registerModels(api, dependencies.models)
      if (dependencies.requests) registerRequests(api, dependencies.requests)
    },
    { prefix: '/api/v1' },
  )
}

/** A route that says nothing of who may use it is a mistake of ours, and is told when it is registered. */
function declarePermissions(scope: FastifyInstance): void {
  scope.addHook('onRoute', (route) => {
    const { permission } = route.config ?? {}
    if (permission === undefined)
      throw new Error(`${String(route.method)} ${route.url} declares no permission`)
    const refusals = permission === 'anyone' ? {} : faultAnswers([403])
    const { response, ...schema } = route.schema ?? {}
    route.schema = Object.assign(schema, {
      'x-permission': permission,
      response: { ...refusals, ...(response as object) },
    })
  })
}

function pathIn(url: string): string {
  return url.split('?', 1)[0]?.slice(0, 200) ?? ''
}
