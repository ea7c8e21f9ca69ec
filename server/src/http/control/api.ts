/** The control API: everything under `/api/v1` of the private listener. */
import type { FastifyInstance } from 'fastify'
import { serializerCompiler, validatorCompiler } from 'fastify-type-provider-zod'
import { faultAnswers } from '../fault-answers.ts'
import { hasBody } from '../gate/gate.ts'
import { registerAudit } from './audit/audit.ts'
import { registerBackup } from './backup/routes.ts'
import { registerBatches } from './batches/routes.ts'
import { registerBooks } from './books/books.ts'
import { registerCredentials } from './credentials/credentials.ts'
import { pathIn, shownRequest } from './answer-fault.ts'
import { notFound } from './wire/faults.ts'
import { registerDeployments } from './deployments/routes.ts'
import { registerOverview } from './overview/routes.ts'
import { registerEvents } from './events/events.ts'
import { registerKeys } from './keys/keys.ts'
import { registerProjects } from './keys/projects.ts'
import { registerWebhookEvents } from './keys/webhook-events.ts'
import { registerResolve } from './resolve/routes.ts'
import { registerPlayground } from './playground/routes.ts'
import type { ApiDependencies } from './dependencies.ts'
import { callerOfRequest } from './access/authenticate.ts'
import { CALLER, checkAccess, type Caller } from './access/caller.ts'
import { registerAssets } from './images/assets.ts'
import { registerImageJobs } from './images/jobs.ts'
import { registerRequests } from './requests/routes.ts'
import { registerUpstreamChanges } from './upstreams/changes.ts'
import { registerStoredModels } from './upstreams/models.ts'
import { registerUpstreams } from './upstreams/routes.ts'
import { registerMoney } from './money/routes.ts'
import { registerModels } from './models/routes.ts'
import type { PeopleDependencies } from './access/people.ts'
import { registerInvitations } from './members/invitations.ts'
import { registerMembers } from './members/members.ts'
import { registerSavedViews } from './saved-views/routes.ts'
import { registerSession } from './session/routes.ts'
import { registerSignOn } from './sign-on/routes.ts'
import { registerSettings } from './settings/routes.ts'
import { registerTokens } from './tokens/routes.ts'
import { typed, type Api } from './wire/route.ts'
import { registerSpaces } from './spaces/spaces.ts'

export function registerApi(app: FastifyInstance, dependencies: ApiDependencies): void {
  const { clientAddress, onAdminRequest } = dependencies
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
        const caller = await callerOfRequest(request, dependencies)
        request.setDecorator(CALLER, { ...caller, address: clientAddress(request.raw) })
        checkAccess(caller, permission, request.method)
      })
      scope.addHook('onSend', async (request, reply) => {
        void reply.headers({ 'x-request-id': request.id, 'cache-control': 'no-store' })
      })
      scope.addHook('onResponse', async (request, reply) => {
        const caller = request.getDecorator<Caller | null>(CALLER)
        if (caller !== null)
          onAdminRequest({
            ...shownRequest(request, clientAddress),
            actor: caller.actor,
            status: reply.statusCode,
          })
      })
      scope.setNotFoundHandler((request) => {
        throw notFound(`${request.method} ${pathIn(request.url)} does not exist.`)
      })
      const api = typed(scope)
      registerProjects(api, dependencies)
      registerKeys(api, dependencies)
      if (dependencies.resolve) registerResolve(api, dependencies.resolve)
      if (dependencies.playground) registerPlayground(api, dependencies.playground)
      if (dependencies.keyReports) registerWebhookEvents(api, dependencies.keyReports)
      registerCredentials(api, dependencies)
      registerAudit(api, dependencies)
      if (dependencies.people) registerPeople(api, dependencies.people)
      if (dependencies.settings) registerSettings(api, dependencies.settings)
      if (dependencies.books) registerBooks(api, dependencies.books)
      if (dependencies.backup) registerBackup(api, dependencies.backup)
      if (dependencies.money) registerMoney(api, dependencies.money)
      if (dependencies.spaces) registerSpaces(api, dependencies.spaces)
      if (dependencies.events) registerEvents(api, dependencies.events)
      if (dependencies.overview) registerOverview(api, dependencies.overview)
      if (dependencies.deployments) registerDeployments(api, dependencies.deployments)
      if (dependencies.models) registerModels(api, dependencies.models)
      if (dependencies.requests) registerRequests(api, dependencies.requests)
      if (dependencies.imageJobs) registerImageJobs(api, dependencies.imageJobs)
      if (dependencies.assets) registerAssets(api, dependencies.assets)
      if (dependencies.batches) registerBatches(api, dependencies.batches)
      if (dependencies.storedModels) {
        registerUpstreams(api, dependencies.storedModels)
        registerUpstreamChanges(api, dependencies.storedModels)
        registerStoredModels(api, dependencies.storedModels)
      }
    },
    { prefix: '/api/v1' },
  )
}

function registerPeople(api: Api, people: PeopleDependencies): void {
  registerSession(api, people)
  registerMembers(api, people)
  registerInvitations(api, people)
  registerSignOn(api, people)
  registerTokens(api, people)
  registerSavedViews(api, people)
}

/** A route that says nothing of who may use it is a mistake of ours, and is told when it is registered. */
function declarePermissions(scope: FastifyInstance): void {
  scope.addHook('onRoute', (route) => {
    const { permission } = route.config ?? {}
    if (permission === undefined)
      throw new Error(`${String(route.method)} ${route.url} declares no permission`)
    const refusals = {
      ...(permission === 'anyone' ? {} : faultAnswers([403])),
      ...(hasBody(route.config?.bounds) ? faultAnswers([400, 408, 413, 415, 503]) : {}),
      ...faultAnswers(route.url.includes('/:') ? [400, 404, 421] : [400, 421]),
    }
    const { response, ...schema } = route.schema ?? {}
    route.schema = Object.assign(schema, {
      'x-permission': permission,
      response: { ...refusals, ...(response as object) },
    })
  })
}
