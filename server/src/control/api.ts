/** The control API: everything under `/api/v1` of the private listener. */
import type { FastifyInstance } from 'fastify'
import { serializerCompiler, validatorCompiler } from 'fastify-type-provider-zod'
import { faultAnswers } from '#http/fault-answers.ts'
import { hasBody } from '#http/gate/gate.ts'
import { incidentTopic, registerAlerts } from './alerts/routes.ts'
import { registerAudit } from './audit/routes.ts'
import { registerBackup } from './backup/routes.ts'
import { batchTopic, registerBatches } from './batches/routes.ts'
import { registerCatalog } from './catalog/routes.ts'
import { registerConfiguration } from './configuration/routes.ts'
import { registerNodes } from './nodes/routes.ts'
import { registerCredentials } from './credentials/routes.ts'
import { pathIn, shownRequest } from './shared/answer-fault.ts'
import { notFound } from './shared/faults.ts'
import { deploymentTopic } from './deployments/live-routes.ts'
import { registerDeployments } from './deployments/routes.ts'
import { attentionTopic, flowTopic } from './overview/live-routes.ts'
import { openOverview } from './overview/open.ts'
import { registerOverview } from './overview/routes.ts'
import { registerEvents } from './events/routes.ts'
import { registerKeys } from './keys/routes.ts'
import { registerLedger } from './ledger/routes.ts'
import { registerProjects } from './projects/routes.ts'
import { registerWebhookEvents } from './webhook-events/routes.ts'
import { registerResolve } from './resolve/routes.ts'
import { registerPlayedUploads, registerPlayground } from './playground/routes.ts'
import type { ApiDependencies } from './dependencies.ts'
import { callerOfRequest } from './shared/authenticate.ts'
import { CALLER, checkAccess, type Caller } from './shared/caller.ts'
import { registerAssets } from './assets/routes.ts'
import { jobTopic, registerImageJobs } from './image-jobs/routes.ts'
import { keyTopic, requestTopic } from './requests/live-routes.ts'
import { registerRequests } from './requests/routes.ts'
import { registerUpstreams } from './upstreams/routes.ts'
import { registerBudgets } from './budgets/routes.ts'
import { registerPrices } from './prices/routes.ts'
import { registerUnknowns } from './unknowns/routes.ts'
import { registerUsageExport } from './usage/export-routes.ts'
import { registerUsage } from './usage/routes.ts'
import { registerModels } from './models/routes.ts'
import { registerInvitations } from './invitations/routes.ts'
import { registerMembers } from './members/routes.ts'
import { registerSession } from './session/routes.ts'
import { registerSignOn } from './sign-on/routes.ts'
import { registerSettings } from './settings/routes.ts'
import { registerTokens } from './tokens/routes.ts'
import { readInTurn } from './shared/reading-turns.ts'
import type { Api } from './shared/route.ts'
import { registerSpaces } from './spaces/routes.ts'
import { registerSuspects } from './suspects/routes.ts'

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
      readInTurn(scope)
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
      const api: Api = scope
      const { node } = dependencies
      registerProjects(api, node)
      registerKeys(api, node)
      registerLedger(api, node)
      registerResolve(api, node)
      registerPlayground(api, node)
      registerPlayedUploads(api, node)
      registerWebhookEvents(api, node)
      registerCredentials(api, node)
      registerAlerts(api, node)
      registerAudit(api, node)
      registerSession(api, node)
      registerMembers(api, node)
      registerInvitations(api, node)
      registerSignOn(api, node)
      registerTokens(api, node)
      registerSettings(api, node)
      registerNodes(api, node)
      registerBackup(api, node)
      registerUsageExport(api, node)
      registerUsage(api, node)
      registerBudgets(api, node)
      registerUnknowns(api, node)
      registerPrices(api, node)
      registerCatalog(api, node)
      registerConfiguration(api, node)
      registerSpaces(api, node)
      registerSuspects(api, node)
      const overview = openOverview(node)
      registerEvents(api, node, () => [
        flowTopic(node),
        deploymentTopic(node),
        attentionTopic(overview),
        incidentTopic(node),
        requestTopic(node),
        keyTopic(node),
        jobTopic(node),
        batchTopic(node),
      ])
      registerOverview(api, overview)
      registerDeployments(api, node)
      registerModels(api, node)
      registerRequests(api, node)
      registerImageJobs(api, node)
      registerAssets(api, node)
      registerBatches(api, node)
      registerUpstreams(api, node)
    },
    { prefix: '/api/v1' },
  )
}

/** A route without a permission is a programming mistake: it fails when it is registered. */
function declarePermissions(scope: FastifyInstance): void {
  scope.addHook('onRoute', (route) => {
    const { permission } = route.config ?? {}
    if (permission === undefined)
      throw new Error(`${String(route.method)} ${route.url} declares no permission`)
    const refusals = {
      ...(permission === 'anyone' ? {} : faultAnswers([403], 'control')),
      ...(hasBody(route.config?.bounds) ? faultAnswers([400, 408, 413, 415, 503], 'control') : {}),
      ...faultAnswers(route.url.includes('/:') ? [400, 404, 421] : [400, 421], 'control'),
    }
    const { response, ...schema } = route.schema ?? {}
    route.schema = Object.assign(schema, {
      'x-permission': permission,
      response: { ...refusals, ...(response as object) },
    })
  })
}
