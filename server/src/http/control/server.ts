/** The private listener: health and metrics today, the control API and the console later. */
import { fastify, type FastifyInstance } from 'fastify'
import { registerHealth, type Readiness } from '../health.ts'

export interface ControlDependencies extends Readiness {
  readonly metrics: () => Promise<{ readonly contentType: string; readonly text: string }>
}

export function controlServer(dependencies: ControlDependencies): FastifyInstance {
  const app = fastify({ forceCloseConnections: 'idle' })
  registerHealth(app, dependencies)
  app.get('/metrics', async (_, reply) => {
    const { contentType, text } = await dependencies.metrics()
    return reply.type(contentType).send(text)
  })
  return app
}
