/** The page at `/` for people who open the gateway in a browser, and the pages that `doc_url` points to. */
import type { FastifyInstance } from 'fastify'
import { Fault, type FaultCode } from '#core/fault/fault.ts'
import { faultMarkdown } from '#core/fault/page.ts'
import { FAULTS } from '#core/fault/table.ts'
import { sendPage } from '../pages.ts'

const PAGE = { schema: { hide: true }, config: { isPage: true } }

/** A self-hosted gateway explains its own errors, also without the internet. Links are relative, so that a proxy may add a path. */
export function registerPages(app: FastifyInstance, { docsUrl }: { readonly docsUrl: () => string }): void {
  for (const path of ['/', '/docs'])
    app.get(path, PAGE, (request, reply) => sendPage(request, reply, indexMarkdown(docsUrl())))
  app.get('/docs/errors', PAGE, (request, reply) => sendPage(request, reply, ERRORS))
  app.get('/docs/errors/:code', PAGE, (request, reply) => {
    const { code } = request.params as { code: string }
    if (!Object.hasOwn(FAULTS, code))
      throw new Fault('unknown_path', `There is no error code '${code.slice(0, 80)}'.`)
    return sendPage(request, reply, faultMarkdown(code as FaultCode))
  })
}

function indexMarkdown(url: string): string {
  return [
    '# Torana',
    '',
    `This is a gateway for embeddings and images. It speaks OpenAI's API: give an SDK the base URL \`${url}/v1\` and a key of this gateway.`,
    '',
    '- `GET /v1/models`: the models that a key may use',
    '- `POST /v1/embeddings`',
    '- `POST /v1/images/generations` and `POST /v1/images/edits`',
    '- `/v1/files`, `/v1/uploads` and `/v1/batches`',
    '- [Errors](docs/errors)',
    '- [The OpenAPI document](docs/openapi.json)',
    '- [Is this node ready?](readyz)',
    '',
  ].join('\n')
}

const ERRORS = [
  '# Errors',
  '',
  'Every error of this gateway has a page, which says what it means and what to do.',
  '',
  ...Object.entries(FAULTS)
    .toSorted(([, left], [, right]) => left.status - right.status)
    .map(([code, { status }]) => `- [\`${code}\`](errors/${code}), HTTP ${status}`),
  '',
].join('\n')
