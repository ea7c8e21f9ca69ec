/** Checks that every route of both listeners passes before its handler runs. */
import type { FastifyInstance, RouteOptions } from 'fastify'
import { NO_BODY, type RouteBounds } from './bounds.ts'
import { endUnread, isUnread } from './unread.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Every route has bounds: a route without them cannot be registered. */
    bounds?: RouteBounds
  }
}

/** Methods whose routes have no body. */
const BODILESS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'DELETE'])

/** The line of a route in the list of bounds, such as `POST /files`. */
type LineOf = (method: string, url: string) => string

/** To be called before any route is registered. `bounds` is one of the lists in `bounds.ts`. */
export function boundRoutes(
  app: FastifyInstance,
  bounds: Readonly<Record<string, RouteBounds>>,
  lineOf: LineOf,
): void {
  app.addHook('onRoute', (route) => {
    route.config = { ...route.config, bounds: boundsOf(route, bounds, lineOf) }
  })
  app.addHook('onRequest', (request, reply, done) => {
    // The node does not read this body, and its sender could keep the connection busy with it.
    if (!hasBody(request.routeOptions.config.bounds) && isUnread(request.raw))
      reply.raw.shouldKeepAlive = false
    done()
  })
  app.addHook('onSend', async (request, reply) => {
    if (!isUnread(request.raw)) return
    void reply.header('connection', 'close')
    // At the end of the answer, however late that is.
    reply.raw.once('prefinish', () => endUnread(request.raw, reply.raw))
  })
}

export function hasBody({ json, form }: RouteBounds = NO_BODY): boolean {
  return json !== undefined || form !== undefined
}

function boundsOf(
  { method, url }: RouteOptions,
  bounds: Readonly<Record<string, RouteBounds>>,
  lineOf: LineOf,
): RouteBounds {
  const methods = [method].flat().filter((one) => !BODILESS.has(one))
  if (methods.length === 0) return NO_BODY
  const [line = '', another] = methods.map((one) => lineOf(one, url))
  const found = bounds[line]
  if (found === undefined || another !== undefined)
    throw new Error(`${methods.join(' and ')} ${url} has no bounds: add '${line}' to http/gate/bounds.ts`)
  return found
}
