import type { FastifyInstance } from 'fastify'
import { Fault, type FaultCode } from '#core/fault/fault.ts'
import { faultMarkdown } from '#core/fault/page.ts'
import { FAULTS } from '#core/fault/table.ts'

/** The pages that `doc_url` points at: a self-hosted gateway explains its own errors, also without the internet. */
export function registerErrorPages(app: FastifyInstance): void {
  app.get('/docs/errors/:code', { schema: { hide: true } }, (request, reply) => {
    const { code } = request.params as { code: string }
    if (!Object.hasOwn(FAULTS, code))
      throw new Fault('unknown_path', `There is no error code '${code.slice(0, 80)}'.`)
    return reply.type('text/markdown; charset=utf-8').send(faultMarkdown(code as FaultCode))
  })
}
