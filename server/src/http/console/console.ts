/** Serves the console on the control port: its files, and its one page at every address that no other route has. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { sendPage } from '../pages.ts'
import { ConsoleFiles } from './files.ts'

export interface ConsoleDependencies {
  /** The output folder of `npm run console:build`. */
  readonly folder: string
  /** The path below which the console is reached, with a slash at both ends: `/`, `/console/`. */
  readonly basePath: string
}

/** Addresses of the control port that never show the console. */
const OTHERS = /^\/(?:api|metrics|livez|readyz|docs)(?:\/|$)/

/** Addresses of files. Elsewhere a dot is part of a name: `/models/gpt-image-1.5` is a page. */
const FILE = /^\/(?:assets\/|\.)|^\/[^/]*\.\w+$/

const NOT_BUILT = [
  '# The console is not built',
  '',
  'This node runs from a checkout in which nobody has built the console yet. Build it once, then load this page again:',
  '',
  '- `npm ci`',
  '- `npm run console:build`',
  '',
  'Everything that the console shows is also at hand by the command `torana` and by the control API under `/api/v1`.',
  '',
].join('\n')

/**
 * A proxy may keep the console's path in the address or remove it. It is removed here, so that the rest of the control port has one
 * address for each thing.
 */
export function withoutBasePath(url: string, basePath: string): string {
  const bare = basePath.slice(0, -1)
  if (bare === '' || !url.startsWith(bare)) return url
  const rest = url.slice(bare.length)
  return rest === '' || rest.startsWith('?') ? `/${rest}` : rest.startsWith('/') ? rest : url
}

/** Answers what no route of the control port answers. False: the address does not belong to the console. */
export type ConsoleAnswer = (request: FastifyRequest, reply: FastifyReply) => Promise<boolean>

export function consoleAnswer({ folder, basePath }: ConsoleDependencies): ConsoleAnswer {
  const files = new ConsoleFiles(folder, basePath)
  return async (request, reply) => {
    const { method, url, headers } = request
    if (method !== 'GET' && method !== 'HEAD') return false
    const path = url.split('?', 1)[0] ?? ''
    if (OTHERS.test(path)) return false
    const file = await files.file(path, headers['accept-encoding'] ?? '')
    if (file !== undefined) {
      void reply.headers({
        'cache-control': file.cacheControl,
        'content-type': file.contentType,
        vary: 'accept-encoding',
        ...(file.encoding && { 'content-encoding': file.encoding }),
      })
      await reply.send(file.bytes)
      return true
    }
    // A missing file is not the console's page: a browser would run HTML as a script. Programs get a fault.
    if (FILE.test(path) || headers.accept?.includes('text/html') !== true) return false
    const index = await files.index()
    if (index === undefined) await sendPage(request, reply.code(503), NOT_BUILT)
    else
      await reply
        .headers({ 'cache-control': 'no-store', vary: 'accept' })
        .type('text/html; charset=utf-8')
        .send(index)
    return true
  }
}

/** `/` is the console for a browser, and a list of what is here for a program. */
export function registerConsole(app: FastifyInstance, answer: ConsoleAnswer, list: string): void {
  app.get('/', { schema: { hide: true } }, async (request, reply) => {
    if (!(await answer(request, reply))) await sendPage(request, reply, list)
    return reply
  })
}
