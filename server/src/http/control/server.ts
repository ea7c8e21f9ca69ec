/** The private listener: health, metrics and the control API. */
import swagger from '@fastify/swagger'
import { fastify, type FastifyInstance } from 'fastify'
import type { Identifiers } from '#ports/clock.ts'
import { registerHealth, type Readiness } from '../health.ts'
import { openapiOf } from '../openapi.ts'
import { registerApi } from './api.ts'
import type { ApiDependencies } from './dependencies.ts'

export interface ControlDependencies extends Readiness {
  readonly metrics: () => Promise<{ readonly contentType: string; readonly text: string }>
  readonly api?: ControlApi | undefined
}

interface ControlApi extends ApiDependencies {
  readonly identifiers: Identifiers
  readonly version: string
}

export function controlServer({ api, metrics, ...readiness }: ControlDependencies): FastifyInstance {
  const app = fastify({
    forceCloseConnections: 'idle',
    // Paths hold ids of models, which may be long.
    routerOptions: { maxParamLength: 512 },
    ...(api && { genReqId: () => api.identifiers.next() }),
  })
  if (api) void app.register(swagger, openapi(api.version))
  registerHealth(app, readiness)
  app.get('/metrics', { schema: { hide: true } }, async (_, reply) => {
    const { contentType, text } = await metrics()
    return reply.type(contentType).send(text)
  })
  if (api) registerApi(app, api)
  return app
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
