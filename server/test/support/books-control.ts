/** The routes about the books as a server of their own, over the books of one engine. Who may ask is tested with the API. */
import type { AddressInfo } from 'node:net'
import { after } from 'node:test'
import { fastify } from 'fastify'
import { serializerCompiler, validatorCompiler } from 'fastify-type-provider-zod'
import { registerBudgets } from '#http/control/budgets/routes.ts'
import { registerUnknowns } from '#http/control/unknowns/routes.ts'
import { registerUsage } from '#http/control/usage/routes.ts'
import { PostgresBudgetReports } from '#stores/postgres/reports/budgets.ts'
import { PostgresUsage } from '#stores/postgres/reports/usage.ts'
import { PostgresUnknowns } from '#stores/postgres/reports/unknowns.ts'
import { registerBooks, type BooksDependencies } from '#http/control/books/books.ts'
import { controlFault } from '#http/control/wire/faults.ts'
import type { Project } from '#core/catalog.ts'
import { CALLER, tokenCaller, type Caller } from '#http/control/access/caller.ts'
import { typed } from '#http/control/wire/route.ts'
import { faultBody, faultHeaders } from '#http/faults.ts'
import type { NodeFigures } from '#ports/upkeep.ts'
import { systemClock } from '#runtime/clock.ts'
import { uuidv7Identifiers } from '#runtime/identifiers.ts'
import type { Books } from './books.ts'
import type { Asked } from './gateway.ts'

export const QUIET_NODE: NodeFigures = {
  isStoreAway: false,
  spoolWaiting: 0,
  journalOpen: 0,
  hasConfigFile: false,
  diskFailure: undefined,
  clockSkewMs: 0,
  configRefusal: undefined,
  limiter: undefined,
}

export async function startBooksControl(
  books: Books,
  overrides: Partial<BooksDependencies & { caller: Caller; declared: readonly Project[] }> = {},
) {
  const { database, ledger, nodes, reconciler, upkeep, audit, clock } = books
  const identifiers = uuidv7Identifiers(systemClock)
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
      const { nowMs } = clock
      registerUnknowns(typed(scope), { ledger, unknowns: new PostgresUnknowns(database, clock) })
      registerUsage(typed(scope), { usage: new PostgresUsage(database, clock), nowMs })
      registerBudgets(typed(scope), {
        budgets: new PostgresBudgetReports(database, clock),
        declared: () => overrides.declared ?? [],
        nowMs,
      })
      registerBooks(typed(scope), {
        nodes,
        reconciler,
        upkeep,
        audit,
        nodeFigures: () => QUIET_NODE,
        nowMs: clock.nowMs,
        ...overrides,
      })
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
