/** Each listener serves its OpenAPI document, as `npm run generate` wrote it from the routes. */
import type { FastifyInstance } from 'fastify'

export interface Documented {
  readonly openapi: () => string
}

export function registerOpenapi(app: FastifyInstance, { openapi }: Documented): void {
  let text: string | undefined
  app.get('/docs/openapi.json', { schema: { hide: true } }, (_, reply) => {
    text ??= openapi()
    return reply.type('application/json; charset=utf-8').send(text)
  })
}
