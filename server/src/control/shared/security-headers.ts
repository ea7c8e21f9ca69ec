/** What every answer of the control port tells a browser: nothing of other sites runs here, and no other page frames it. */
import type { FastifyInstance } from 'fastify'

const HEADERS: Readonly<Record<string, string>> = {
  'content-security-policy':
    "default-src 'self'; img-src 'self' blob: data:; worker-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'; object-src 'none'",
  'x-content-type-options': 'nosniff',
  // Other sites must not learn links and ids of this install.
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
}

/** Before any route is registered: it holds for all of them. A page with a stricter policy of its own keeps it. */
export function addSecurityHeaders(app: FastifyInstance): void {
  app.addHook('onSend', async (_, reply) => {
    for (const [name, value] of Object.entries(HEADERS))
      if (!reply.hasHeader(name)) void reply.header(name, value)
  })
}
