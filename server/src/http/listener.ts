/** One port or socket of the node. It is bound first of all, and says that the node starts until an app is ready. */
import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { FastifyInstance } from 'fastify'
import { Fault } from '#core/fault/fault.ts'
import { faultBody, faultHeaders } from './faults.ts'

export interface ListenerOptions {
  readonly at: { readonly host: string; readonly port: number } | { readonly path: string }
  /** Connections that wait to be taken; Node's own number unless given. The system may allow fewer. */
  readonly backlog?: number
  readonly nextId: () => string
  /** Where error pages are served; the address of this listener unless given. */
  readonly docsUrl: string | undefined
  /** The app has words of its own for a request without a Host header; else Node refuses it without any. */
  readonly appChecksHost?: boolean
}

/** Above the 60 s for which load balancers keep an idle connection: the node must not close it first. */
const KEEP_ALIVE_MS = 75_000
/** How often Node looks for slow senders. Its own 30 s would turn a limit of ten seconds into forty. */
const SLOW_SENDER_CHECK_MS = 1000
/** While draining: long enough to cost nothing, short enough that no drain waits for it. */
const SWEEP_MS = 100
/** A start takes seconds. */
const RETRY_MS = 1000

export class Listener {
  /** Where it answers, without a path. */
  readonly url: string
  readonly #server: Server
  #app: FastifyInstance | undefined
  #closed: Promise<void> | undefined

  private constructor(server: Server, url: string) {
    this.#server = server
    this.url = url
  }

  /** Rejects with the system's error, such as `EADDRINUSE`. */
  static async bind({ at, backlog, nextId, docsUrl, appChecksHost }: ListenerOptions): Promise<Listener> {
    const server = createServer({
      keepAliveTimeout: KEEP_ALIVE_MS,
      connectionsCheckingInterval: SLOW_SENDER_CHECK_MS,
      requireHostHeader: appChecksHost !== true,
    })
    server.listen({ ...at, backlog })
    await once(server, 'listening')
    const listener = new Listener(server, 'path' in at ? `unix:${at.path}` : urlOf(server, at.host))
    /** False: the app has no answer of its own to this. */
    const hand = (event: string, request: IncomingMessage, response: ServerResponse): boolean => {
      if (listener.#app) return listener.#app.server.emit(event, request, response)
      answerStarting(request, response, nextId(), docsUrl ?? listener.url)
      return true
    }
    server.on('request', (request, response) => void hand('request', request, response))
    server.on('checkContinue', (request, response) => {
      if (hand('checkContinue', request, response)) return
      response.writeContinue()
      hand('request', request, response)
    })
    server.on('checkExpectation', (request, response) => {
      if (!hand('checkExpectation', request, response)) response.writeHead(417).end()
    })
    return listener
  }

  /** From now on requests are the app's, which is ready and does not listen itself. */
  open(
    app: FastifyInstance,
    bounds: Partial<Pick<Server, 'headersTimeout' | 'requestTimeout' | 'maxConnections'>> = {},
    dropped: () => void = () => {},
  ): void {
    this.#app = app
    Object.assign(this.#server, bounds)
    this.#server.on('drop', dropped)
    this.#server.on('clientError', (error, socket) => app.server.emit('clientError', error, socket))
  }

  /** Takes no more connections. Idle ones end at once; resolves when the others have ended. */
  close(): Promise<void> {
    this.#closed ??= this.#close()
    return this.#closed
  }

  /** Closes, and waits so long for requests under way. */
  async drain(forMs: number): Promise<void> {
    // A client keeps its idle connection open, and would hold the node to the end of the drain.
    const sweep = setInterval(() => this.#server.closeIdleConnections(), SWEEP_MS)
    await Promise.race([this.close(), new Promise((resolve) => setTimeout(resolve, forMs).unref())])
    clearInterval(sweep)
  }

  async #close(): Promise<void> {
    // The app says `connection: close` from now on.
    await this.#app?.close()
    const closed = once(this.#server, 'close')
    this.#server.close()
    await closed
  }
}

/** Health as the app will tell it; whatever else is asked for is refused before it is read. */
function answerStarting(
  { url = '' }: IncomingMessage,
  response: ServerResponse,
  requestId: string,
  docsUrl: string,
): void {
  const [path] = url.split('?')
  if (path === '/livez' || path === '/readyz') {
    const isAlive = path === '/livez'
    response.statusCode = isAlive ? 200 : 503
    response.setHeader('content-type', 'text/plain').end(isAlive ? 'ok\n' : 'starting\n')
    return
  }
  const fault = new Fault('node_starting', 'This node is starting. Try again in a moment.', {
    retryAfterMs: RETRY_MS,
  })
  response.statusCode = fault.entry.status
  response.setHeaders(new Map(Object.entries(faultHeaders(fault, requestId))))
  response.end(faultBody(fault, requestId, docsUrl))
}

function urlOf(server: Server, host: string): string {
  const { port } = server.address() as AddressInfo
  const name = host === '0.0.0.0' || host === '::' ? 'localhost' : host.includes(':') ? `[${host}]` : host
  return `http://${name}:${port}`
}
