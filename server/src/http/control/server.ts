/** The private listener: health, metrics, the control API and the console. */
import type { IncomingMessage } from 'node:http'
import swagger from '@fastify/swagger'
import { fastify, type FastifyInstance } from 'fastify'
import { Fault } from '#core/fault/fault.ts'
import type { Identifiers } from '#ports/clock.ts'
import {
  consoleAnswer,
  registerConsole,
  withoutBasePath,
  type ConsoleDependencies,
} from '../console/console.ts'
import { faultBody, faultHeaders } from '../faults.ts'
import { registerHealth, type Readiness } from '../health.ts'
import { openapiOf, registerOpenapi } from '../openapi.ts'
import { registerApi } from './api.ts'
import type { ApiDependencies } from './dependencies.ts'
import { addSecurityHeaders } from './security-headers.ts'

export interface ControlDependencies extends Readiness {
  readonly metrics: () => Promise<{ readonly contentType: string; readonly text: string }>
  readonly api?: ControlApi | undefined
}

interface ControlApi extends ApiDependencies {
  readonly identifiers: Identifiers
  readonly version: string
  readonly console: ConsoleDependencies
}

export function controlServer({ api, metrics, ...readiness }: ControlDependencies): FastifyInstance {
  const app = fastify({
    forceCloseConnections: 'idle',
    // Paths hold ids of models, which may be long.
    routerOptions: { maxParamLength: 512 },
    ...(api && {
      genReqId: () => api.identifiers.next(),
      rewriteUrl: ({ url }: IncomingMessage) => withoutBasePath(url ?? '/', api.console.basePath),
    }),
  })
  addSecurityHeaders(app)
  if (api) void app.register(swagger, openapi(api.version))
  registerHealth(app, readiness)
  app.get('/metrics', { schema: { hide: true } }, async (_, reply) => {
    const { contentType, text } = await metrics()
    return reply.type(contentType).send(text)
  })
  if (api) registerApi(app, api)
  if (api) registerPages(app, api)
  return app
}

const INDEX = [
  '# Torana: the control port',
  '',
  'This port is for operators. Applications use the public port.',
  '',
  '- `/api/v1`: the control API, which needs the admin token. The command `torana` uses it',
  '- [The OpenAPI document](docs/openapi.json)',
  '- [Metrics](metrics)',
  '- [Is this node ready?](readyz)',
  '',
].join('\n')

function registerPages(app: FastifyInstance, { docsUrl, console }: ControlApi): void {
  registerOpenapi(app)
  const answer = consoleAnswer(console)
  registerConsole(app, answer, INDEX)
  app.setNotFoundHandler(async (request, reply) => {
    if (await answer(request, reply)) return reply
    const { id, method, url } = request
    const path = url.split('?', 1)[0]?.slice(0, 200)
    const fault = new Fault('unknown_path', `${method} ${path} does not exist on the control port.`)
    return reply
      .code(fault.entry.status)
      .headers(faultHeaders(fault, id))
      .send(faultBody(fault, id, docsUrl()))
  })
}

function openapi(version: string): ReturnType<typeof openapiOf> {
  return openapiOf({
    title: 'Torana control API',
    description:
      'Keys, projects, upstream credentials, budgets, vector spaces and the audit log. On the private control port only.',
    version,
    securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } },
  })
}
