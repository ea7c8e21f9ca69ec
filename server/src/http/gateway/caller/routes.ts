/** What the routes of every room have in common: their prefixes, and handlers that take over from the framework. */
import type { FastifyContextConfig, FastifyReply, FastifyRequest } from 'fastify'
import { Fault } from '#core/fault/fault.ts'
import type { RequestHandler } from './journey.ts'

/** Every path answers under each of these. The documents show only the first. */
export const PREFIXES = [
  { prefix: '/v1', hide: false },
  { prefix: '/openai/v1', hide: true },
  { prefix: '', hide: true },
] as const

type OnRequest = (request: FastifyRequest, reply: FastifyReply) => Promise<void>

interface HijackedRoute {
  readonly config?: FastifyContextConfig
  readonly onRequest: OnRequest
  readonly handler: () => never
}

/** Takes each request from the framework before its body is read. The schemas of such a route only document it. */
export function hijacked(onRequest: OnRequest): HijackedRoute {
  return { onRequest, handler: neverReached }
}

export function handledBy(handler: RequestHandler): HijackedRoute {
  return hijacked((request, reply) => {
    reply.hijack()
    return handler(request.raw, reply.raw)
  })
}

/**
 * `…/{model}/embeddings`, or another end, each with its own handler. The model is everything before the end, since ids of models may
 * contain slashes.
 */
export function handledByEnd(
  pathWins: boolean,
  handlers: Readonly<Record<string, RequestHandler>>,
): HijackedRoute {
  const ends = Object.keys(handlers)
  const route = hijacked(async (request, reply) => {
    const rest = (request.params as { '*': string })['*']
    const end = ends.find((one) => rest.endsWith(one) && rest.length > one.length)
    if (end === undefined) throw unknownPath(request)
    reply.hijack()
    await handlers[end]?.(request.raw, reply.raw, { model: rest.slice(0, -end.length), pathWins })
  })
  return { ...route, config: { ends } }
}

function neverReached(): never {
  throw new Fault('internal_error', 'A hijacked route came back.')
}

/** For a path that has other methods than that of the request. */
export function wrongMethod({ method, url }: Asked, allow: readonly string[]): Fault {
  return new Fault(
    'method_not_allowed',
    `${method} ${pathOf(url)} does not exist. Use ${allow.join(' or ')}.`,
    {
      allow,
    },
  )
}

type Asked = Pick<FastifyRequest, 'method' | 'url'>

/** Without its query, and cut to the length that a message may have. */
function pathOf(url: string): string {
  return url.split('?')[0]?.slice(0, 200) ?? ''
}

const SERVED =
  /^(?:\/openai)?(?:\/v1)?\/(?:embeddings|images\/(?:generations|edits)|models|files|uploads|batches)$|^\/openai\/deployments\/.+\/(?:embeddings|images\/(?:generations|edits))$/

/** The served path that differs only in slashes or capitals. Names of models keep their own. */
function pathMeant(path: string): string | undefined {
  const straight = path.replace(/\/{2,}/g, '/').replace(/(?<=.)\/$/, '')
  const served = [straight, straight.toLowerCase()].find((one) => SERVED.test(one))
  return served === path ? undefined : served
}

export function unknownPath({ method, url }: Asked): Fault {
  const path = pathOf(url)
  const meant = pathMeant(path)
  const hint = path.startsWith('/v1/v1')
    ? 'Your base URL already ends in /v1. Remove one of the two.'
    : meant !== undefined
      ? `Use ${meant}: slashes and capitals count.`
      : 'This gateway serves embeddings, images and files only: GET /v1/models, POST /v1/embeddings, POST /v1/images/generations, POST /v1/images/edits, /v1/files, /v1/uploads and /v1/batches.'
  return new Fault('unknown_path', `${method} ${path} does not exist. ${hint}`)
}
