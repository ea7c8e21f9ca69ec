/** One port or socket of the node. It is bound first of all, and says that the node starts until an app is ready. */
import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { createServer as createTlsServer, type Server as TlsServer } from 'node:https'
import { Server as NetServer, type AddressInfo, type Socket } from 'node:net'
import { setImmediate as turn, setTimeout as wait } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import { Fault } from '#core/fault/fault.ts'
import { Connections } from './connections.ts'
import { faultBody, faultHeaders } from './faults.ts'
import { isForHealth } from './health.ts'

export interface ListenerOptions {
  readonly at: { readonly host: string; readonly port: number } | { readonly path: string }
  /** Connections that wait to be taken; Node's own number unless given. The system may allow fewer. */
  readonly backlog?: number
  readonly nextId: () => string
  /** Where error pages are served; the address of this listener unless given. */
  readonly docsUrl: string | undefined
  /** It is bound when its app is ready: until then other processes answer at this address, or connections are refused. */
  readonly bindsLate?: boolean
  /** Undefined: it speaks plain HTTP. */
  readonly tls?: TlsCertificate | undefined
}

/** All in PEM form. */
export interface TlsCertificate {
  readonly cert: string
  readonly key: string
  /** Only clients with a certificate of one of these authorities are let in. */
  readonly ca?: string
}

/** Above the 60 s for which load balancers keep an idle connection: the node must not close it first. */
const KEEP_ALIVE_MS = 75_000
/** How often Node looks for slow senders. Its own 30 s would turn a limit of ten seconds into forty. */
const SLOW_SENDER_CHECK_MS = 1000
/** While draining: long enough to cost nothing, short enough that no drain waits for it. */
const SWEEP_MS = 100
/** The longest turn of the event loop behind which a listener closes: a longer one leaves connections time to queue up. An empty one takes 0.02 ms. */
const QUIET_TURN_MS = 0.1
/** Turns of the event loop that a listener waits for a quiet one: about a second of a busy process. */
const QUIET_TURNS = 1000
/** So many looks, each with a turn of the event loop in it, show that nobody sends requests here any more: about a second. */
const UNASKED_LOOKS = 10
/** A start takes seconds. */
const RETRY_MS = 1000
/** As long as for headers: a client that does not finish its handshake holds a socket, nothing else. */
const HANDSHAKE_MS = 10_000

/** What a listener is held to while it is open. */
export interface ListenerBounds extends Partial<
  Pick<Server, 'headersTimeout' | 'requestTimeout' | 'maxConnections'>
> {
  /** An answer of which the client reads nothing for so long is cut. Unset: never. */
  readonly readIdleMs?: number
}

/** Is told what a listener did by itself. */
export interface ListenerEvents {
  /** A connection was closed because there were too many. */
  readonly dropped?: () => void
  /** A connection was closed because its client read nothing. */
  readonly stalled?: () => void
}

export class Listener {
  readonly #at: ListenerOptions['at']
  readonly #backlog: number | undefined
  readonly #server: Server
  readonly #isTls: boolean
  #app: FastifyInstance | undefined
  #closed: Promise<unknown> | undefined
  #isLeaving = false
  /** Requests that came since, without those for health. */
  #askedWhileLeaving = 0
  /** 0 before it is bound to any free port. */
  #port: number
  readonly #connections: Connections

  private constructor({ at, backlog, tls }: ListenerOptions) {
    const options = {
      keepAliveTimeout: KEEP_ALIVE_MS,
      connectionsCheckingInterval: SLOW_SENDER_CHECK_MS,
      // The app refuses a request without one, in its own words.
      requireHostHeader: false,
    }
    this.#at = at
    this.#port = 'port' in at ? at.port : 0
    this.#backlog = backlog
    this.#isTls = tls !== undefined
    this.#server =
      tls === undefined ? createServer(options) : createTlsServer({ ...options, ...tlsOptions(tls) })
    this.#connections = new Connections(this.#server)
  }

  /** Rejects with the system's error, such as `EADDRINUSE`. */
  static async bind(options: ListenerOptions): Promise<Listener> {
    const { nextId, docsUrl } = options
    const listener = new Listener(options)
    const server = listener.#server
    /** False: the app has no answer of its own to this. */
    const hand = (event: string, request: IncomingMessage, response: ServerResponse): boolean => {
      if (listener.#isLeaving) {
        response.setHeader('connection', 'close')
        if (!isForHealth(request.url ?? '')) listener.#askedWhileLeaving += 1
      }
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
    if (options.bindsLate !== true) await listener.#listen()
    return listener
  }

  /** Where it answers, without a path. */
  get url(): string {
    if ('path' in this.#at) return `unix:${this.#at.path}`
    return urlOf({ host: this.#at.host, port: this.#port }, this.#isTls)
  }

  async #listen(): Promise<void> {
    this.#server.listen({ ...this.#at, backlog: this.#backlog })
    await once(this.#server, 'listening')
    const address = this.#server.address() as AddressInfo | string
    if (typeof address === 'object') this.#port = address.port
  }

  /** From now on requests are the app's, which is ready and does not listen itself. */
  async open(
    app: FastifyInstance,
    { readIdleMs, ...bounds }: ListenerBounds = {},
    events: ListenerEvents = {},
  ): Promise<void> {
    const { dropped = () => {}, stalled = () => {} } = events
    this.#app = app
    Object.assign(this.#server, bounds)
    this.#server.on('drop', dropped)
    this.#server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
      // Nothing can be said to a client whose handshake failed.
      if (!this.#connections.has(socket)) socket.destroy()
      else if (error.code !== 'ERR_HTTP_REQUEST_TIMEOUT') app.server.emit('clientError', error, socket)
      else
        this.#connections.unlessAsked(socket as Socket, () => app.server.emit('clientError', error, socket))
    })
    if (readIdleMs !== undefined) this.#connections.endStalled(readIdleMs, stalled)
    if (!this.#server.listening) await this.#listen()
  }

  /** Takes a connection of which nothing was read yet. */
  take(socket: Socket): void {
    this.#server.emit('connection', socket)
    socket.resume()
  }

  /** Shows another certificate on new connections; those that are open go on. Throws if it can't be used. */
  useCertificate(tls: TlsCertificate): void {
    ;(this.#server as TlsServer).setSecureContext(tlsOptions(tls))
  }

  /** Takes no more connections, which other processes at this address do; each answer is the last one on its connection. */
  release(): void {
    this.leave()
    this.#closed ??= this.#close()
  }

  /** Once released: resolves when every client has gone, or after `forMs`. */
  async unconnected(forMs: number): Promise<void> {
    const over = new AbortController()
    const late = wait(forMs, undefined, { signal: over.signal }).catch(() => {})
    await Promise.race([this.#closed, late])
    over.abort()
  }

  /** Goes on taking connections and requests; each answer says that it is the last one on its connection. */
  leave(): void {
    if (this.#isLeaving) return
    this.#isLeaving = true
    this.#connections.sayLast()
  }

  /** While it leaves: resolves when nobody sends requests any more, but those for health; at the latest after so long. */
  async unasked(forMs: number): Promise<void> {
    const endMs = performance.now() + forMs
    for (let looks = 0; looks < UNASKED_LOOKS && performance.now() < endMs;) {
      const before = this.#askedWhileLeaving
      await wait(SWEEP_MS)
      looks = this.#askedWhileLeaving === before ? looks + 1 : 0
    }
  }

  /** Takes no more connections, waits so long for requests under way, and cuts the others. */
  async close(forMs = 0): Promise<void> {
    this.leave()
    this.#closed ??= this.#close()
    // A client keeps its idle connection open, and would hold the node to the end of the drain. While the drain waits for others
    // anyway, it may stay: a request that comes on it is answered, and its client told to connect elsewhere.
    // After what lies in the sockets was read: a connection with a request in it is not idle, however late this process is.
    const closeIdle = (): unknown =>
      setImmediate(() => {
        if (this.#connections.areQuiet()) this.#server.closeIdleConnections()
      })
    const sweep = setInterval(closeIdle, SWEEP_MS)
    closeIdle()
    const { promise: isLate, resolve } = Promise.withResolvers<void>()
    const late = setTimeout(resolve, forMs)
    await Promise.race([this.#closed, isLate])
    clearTimeout(late)
    clearInterval(sweep)
    this.#connections.cut()
    await this.#closed
  }

  /**
   * Resolves right behind a turn of the event loop in which no connection came and little else was done. The system resets
   * connections that it has made and this process has not taken yet, with the requests in them; Node takes one in a turn.
   */
  async #quietTurn(): Promise<void> {
    let taken = 0
    const count = (): unknown => (taken += 1)
    this.#server.on('connection', count)
    for (let turns = 0; turns < QUIET_TURNS; turns += 1) {
      const [before, startMs] = [taken, performance.now()]
      await turn()
      if (turns > 0 && taken === before && performance.now() - startMs < QUIET_TURN_MS) break
    }
    this.#server.off('connection', count)
  }

  async #close(): Promise<void> {
    // It may be told to stop before it was ever bound.
    if (!this.#server.listening) {
      await this.#app?.close()
      return
    }
    await this.#quietTurn()
    const closed = once(this.#server, 'close')
    // Not that of node:http, which would also stop looking for clients that are slow to send their headers.
    NetServer.prototype.close.call(this.#server)
    await closed
    // Nothing is left to close but the timer of node:http.
    this.#server.close()
    await this.#app?.close()
  }
}

/**
 * Rejects with the system's error, such as `EADDRINUSE`, if nothing can be bound to this address. No client can connect: it is closed again
 * before the event loop turns.
 */
export async function checkFree(at: { readonly host: string; readonly port: number }): Promise<void> {
  const server = new NetServer().listen({ ...at, exclusive: true })
  await once(server, 'listening')
  server.close()
}

/** How a client on this machine reaches a listener that is bound to this address. */
export function urlOf(
  { host, port }: { readonly host: string; readonly port: number },
  isTls: boolean,
): string {
  const name = host === '0.0.0.0' || host === '::' ? 'localhost' : host.includes(':') ? `[${host}]` : host
  return `${isTls ? 'https' : 'http'}://${name}:${port}`
}

/** Health as the app will tell it; whatever else is asked for is refused before it is read. */
function answerStarting(
  request: IncomingMessage,
  response: ServerResponse,
  requestId: string,
  docsUrl: string,
): void {
  if (isForHealth(request.url ?? '')) {
    const isAlive = request.url?.startsWith('/livez') === true
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

function tlsOptions({ cert, key, ca }: TlsCertificate): object {
  const clients = ca === undefined ? {} : { ca, requestCert: true, rejectUnauthorized: true }
  return { cert, key, ...clients, minVersion: 'TLSv1.2', handshakeTimeout: HANDSHAKE_MS }
}
