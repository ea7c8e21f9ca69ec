/** Some routes of the control API as a separate server, asked by one caller. Permissions are tested with the API. */
import type { AddressInfo } from 'node:net'
import { after } from 'node:test'
import { fastify } from 'fastify'
import { serializerCompiler, validatorCompiler } from 'fastify-type-provider-zod'
import { CALLER, nodeCaller, type Caller } from '#control/shared/caller.ts'
import { controlFault } from '#control/shared/faults.ts'
import { readInTurn } from '#control/shared/reading-turns.ts'
import type { Api } from '#control/shared/route.ts'
import { faultBody, faultHeaders } from '#http/faults.ts'
import { systemClock } from '#runtime/clock.ts'
import { uuidv7Identifiers } from '#runtime/identifiers.ts'
import type { Asked } from './gateway.ts'

export const TESTER: Caller = nodeCaller('tester')

/** A developer of these projects. */
export function developerOf(...projects: string[]): Caller {
  return { kind: 'member', actor: 'dev@example.com', role: 'developer', projects, isReadOnly: false }
}

export async function startScope(register: (api: Api) => void, caller: () => Caller = () => TESTER) {
  const identifiers = uuidv7Identifiers(systemClock)
  const app = fastify({ genReqId: () => identifiers.next() })
  void app.register(
    async (scope) => {
      scope.setValidatorCompiler(validatorCompiler)
      scope.setSerializerCompiler(serializerCompiler)
      scope.decorateRequest(CALLER, { getter: caller })
      readInTurn(scope)
      scope.setErrorHandler((error, request, reply) => {
        const fault = controlFault(error, request.method)
        return reply
          .code(fault.entry.status)
          .headers(faultHeaders(fault, request.id))
          .serializer((text: string) => text)
          .send(faultBody(fault, request.id, 'http://gateway.example'))
      })
      register(scope)
    },
    { prefix: '/api/v1' },
  )
  await app.listen({ host: '127.0.0.1', port: 0 })
  after(() => app.close())
  const url = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`
  const ask = async <Body = Asked['body']>(method: string, path: string, body?: unknown) => {
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
  }
  return Object.assign(ask, { url })
}
