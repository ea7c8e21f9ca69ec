import type { FastifyInstance } from 'fastify'

export interface Readiness {
  /** The reason why the node is not ready; undefined when it is. */
  readonly notReady: () => string | undefined
  /** What an operator should look at although the node is ready. The answer is public, so it names nothing private. */
  readonly remark?: () => string | undefined
  /** Called when readiness is checked, usually by a load balancer. */
  readonly asked?: () => void
}

export function isForHealth(url: string): boolean {
  const path = url.split('?', 1)[0]
  return path === '/livez' || path === '/readyz'
}

/** `/livez`: the event loop turns. `/readyz`: the node takes traffic; never about upstreams. Neither is logged. */
export function registerHealth(app: FastifyInstance, { notReady, remark, asked }: Readiness): void {
  const hide = { schema: { hide: true } }
  app.get('/livez', hide, (_, reply) => reply.type('text/plain').send('ok\n'))
  app.get('/readyz', hide, (_, reply) => {
    asked?.()
    const reason = notReady()
    const lines = [reason ?? 'ok', remark?.()].filter((line) => line !== undefined)
    return reply
      .code(reason === undefined ? 200 : 503)
      .type('text/plain')
      .send(lines.map((line) => `${line}\n`).join(''))
  })
}
