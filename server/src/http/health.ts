import type { FastifyInstance } from 'fastify'

export interface Readiness {
  /** Undefined when ready, else why not. */
  readonly notReady: () => string | undefined
}

/** `/livez`: is the event loop turning. `/readyz`: send traffic here; never about upstreams. Neither is logged. */
export function registerHealth(app: FastifyInstance, { notReady }: Readiness): void {
  const hide = { schema: { hide: true } }
  app.get('/livez', hide, (_, reply) => reply.type('text/plain').send('ok\n'))
  app.get('/readyz', hide, (_, reply) => {
    const reason = notReady()
    return reply
      .code(reason === undefined ? 200 : 503)
      .type('text/plain')
      .send(`${reason ?? 'ok'}\n`)
  })
}
