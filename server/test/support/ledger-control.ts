/** The routes about the ledger as a separate server, over the ledger of one engine. Permissions are tested with the API. */
import type { AddressInfo } from 'node:net'
import { after } from 'node:test'
import { fastify } from 'fastify'
import { serializerCompiler, validatorCompiler } from 'fastify-type-provider-zod'
import { registerBudgets } from '#control/budgets/routes.ts'
import { registerLedger } from '#control/ledger/routes.ts'
import { registerUnknowns } from '#control/unknowns/routes.ts'
import { registerUsageExport } from '#control/usage/export-routes.ts'
import { registerUsage } from '#control/usage/routes.ts'
import { registerNodes } from '#control/nodes/routes.ts'
import type { ControlNode } from '#control/shared/node.ts'
import { controlFault } from '#control/shared/faults.ts'
import type { Project } from '#core/catalog/catalog.ts'
import { CALLER, tokenCaller, type Caller } from '#control/shared/caller.ts'
import { faultBody, faultHeaders } from '#http/faults.ts'
import type { Settings } from '#core/settings.ts'
import type { NodeFigures } from '#ports/upkeep.ts'
import { systemClock } from '#runtime/clock.ts'
import { uuidv7Identifiers } from '#runtime/identifiers.ts'
import { withReachable } from '#stores/postgres/unreachable.ts'
import type { LedgerStores } from './ledger-stores.ts'
import type { Asked } from './gateway.ts'
import { absent } from './stores/absent.ts'
import { unusedLake } from './lake.ts'

export const QUIET_NODE: NodeFigures = {
  isStoreUnreachable: false,
  spoolWaiting: 0,
  journalOpen: 0,
  hasConfigFile: false,
  diskFailure: undefined,
  clockSkewMs: 0,
  configRefusal: undefined,
  limiter: undefined,
}

/** A node without models, images, TLS and shared cache, whose database runs inside the process. */
const QUIET_SURROUNDINGS: Partial<ControlNode> = {
  settings: { database: { kind: 'inside', folder: '' } } as Settings,
  catalog: () => ({ models: new Map(), retired: new Map(), projects: [] }),
  scheduler: { states: () => [] },
  diskSpace: async () => undefined,
  imageStore: { list: async () => [] },
  imagesWaiting: async () => 0,
  certificate: () => undefined,
  sharedCache: () => undefined,
  summaries: async () => [],
  nodeFigures: () => QUIET_NODE,
}

export async function startLedgerControl(
  stores: LedgerStores,
  overrides: Partial<ControlNode & { caller: Caller; declared: readonly Project[] }> = {},
) {
  const { database, ledger, reconciler, upkeep, audit, clock } = stores
  const identifiers = uuidv7Identifiers(systemClock)
  // A new ledger begins now, which is another moment by the clock of these tests.
  await database.query('UPDATE ledger_seal SET compared_through = $1, compared_at = $1, sealed_at = $1', [
    new Date(clock.nowMs()),
  ])
  const app = fastify({ genReqId: () => identifiers.next() })
  void app.register(
    async (scope) => {
      scope.setValidatorCompiler(validatorCompiler)
      scope.setSerializerCompiler(serializerCompiler)
      scope.decorateRequest(CALLER, { getter: () => overrides.caller ?? tokenCaller('tester') })
      scope.setErrorHandler((error, request, reply) => {
        const fault = controlFault(error)
        const headers = faultHeaders(fault, request.id)
        const body = faultBody(fault, request.id, 'http://gateway.example')
        return reply
          .code(fault.entry.status)
          .headers(headers)
          .serializer((text: string) => text)
          .send(body)
      })
      const reports = withReachable(database)
      const lake = unusedLake(database)
      registerUnknowns(scope, { ledger, reports, clock })
      registerUsageExport(scope, { reports, clock, lake })
      registerLedger(scope, { lake: overrides.lake ?? lake, reconciler, clock })
      registerUsage(scope, { reports, clock })
      registerBudgets(scope, { reports, declaredProjects: () => overrides.declared ?? [], clock })
      registerNodes(
        scope,
        absent('part of a node', {
          ...QUIET_SURROUNDINGS,
          clock,
          reports,
          lake,
          audit,
          auditReceivers: () => Promise.resolve([]),
          reconciler,
          makePartitions: () => upkeep.makePartitions(),
          ...overrides,
        }),
      )
    },
    { prefix: '/api/v1' },
  )
  await app.listen({ host: '127.0.0.1', port: 0 })
  after(() => app.close())
  const url = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`
  return {
    url,
    ask: async <Body = Asked['body']>(method: string, path: string, body?: unknown) => {
      const answer = await fetch(`${url}/api/v1${path}`, {
        method,
        ...(body !== undefined && {
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify(body),
        }),
      })
      const text = await answer.text()
      const isJson = answer.headers.get('content-type')?.startsWith('application/json') === true
      return {
        status: answer.status,
        headers: answer.headers,
        text,
        body: (isJson ? JSON.parse(text) : {}) as Body,
      }
    },
  }
}
