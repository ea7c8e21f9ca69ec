/** What every route of a listener is held to before its handler runs. Both ports pass here. */
import type { FastifyInstance, RouteOptions } from 'fastify'
import { NO_BODY, type RouteBounds } from './bounds.ts'
import { endUnread, isUnread } from './unread.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Every route has them: a route without bounds cannot be registered. */
    bounds?: RouteBounds
  }
}

/** Their routes have no body. */
const BODILESS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'DELETE'])

/** The line of a route in the list of bounds, such as `POST /files`. */
type LineOf = (method: string, url: string) => string

/** Before any route is registered. `bounds` is one of the lists in `bounds.ts`. */
export function boundRoutes(
  app: FastifyInstance,
  bounds: Readonly<Record<string, RouteBounds>>,
  lineOf: LineOf,
): void {
  app.addHook('onRoute', (route) => {
    route.config = { ...route.config, bounds: boundsOf(route, bounds, lineOf) }
  })
  app.addHook('onRequest', (request, reply, done) => {
    // The node does not read this body, and its sender could hold the connection with it.
    if (!hasBody(request.routeOptions.config.bounds) && isUnread(request.raw))
      reply.raw.shouldKeepAlive = false
    done()
  })
  app.addHook('onSend', async (request, reply) => {
    if (!isUnread(request.raw)) return
    void reply.header('connection', 'close')
    // When the answer ends, however late that is.
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
