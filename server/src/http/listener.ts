/** One port or socket of the node. It is bound first of all, and answers that the node is starting until an app is ready. */
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
  /** Queue of connections that the process has not accepted yet; Node's own number if left out. The system may allow fewer. */
  readonly backlog?: number
  readonly nextId: () => string
  /** Base address of the error pages; the address of this listener if left out. */
  readonly docsUrl: string | undefined
  /** Whether it is bound only when its app is ready. Until then other processes answer at this address, or connections are refused. */
  readonly bindsLate?: boolean
  /** Undefined for plain HTTP. */
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
/** Interval of Node's check for slow senders. Its own 30 s would turn a limit of ten seconds into forty. */
const SLOW_SENDER_CHECK_MS = 1000
/** Interval of checks while draining: long enough to cost nothing, short enough that no drain waits for it. */
const SWEEP_MS = 100
/**
 * The longest turn of the event loop after which a listener closes: a longer one leaves connections time to queue up. An empty one
 * takes 0.02 ms.
 */
const QUIET_TURN_MS = 0.1
/** Turns of the event loop that a listener waits for a quiet one: about a second of a busy process. */
const QUIET_TURNS = 1000
/** Checks without a request, each with a turn of the event loop, after which clients count as gone: about a second. */
const UNASKED_LOOKS = 10
/** Retry time of clients during a start, which takes seconds. */
const RETRY_MS = 1000
/** As long as for headers: a client that does not finish its handshake holds only a socket. */
const HANDSHAKE_MS = 10_000

/** Limits of an open listener. */
export interface ListenerBounds extends Partial<
  Pick<Server, 'headersTimeout' | 'requestTimeout' | 'maxConnections'>
> {
  /** Time after which an answer is cut if the client reads nothing of it. Left out: never. */
  readonly readIdleMs?: number
}

/** What a listener did by itself. */
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
  /** Requests since it leaves, without those for health. */
  #askedWhileLeaving = 0
  /** 0 for any free port, until it is bound. */
  #port: number
  readonly #connections: Connections

  private constructor({ at, backlog, tls }: ListenerOptions) {
    const options = {
      keepAliveTimeout: KEEP_ALIVE_MS,
      connectionsCheckingInterval: SLOW_SENDER_CHECK_MS,
      // The app refuses a request without a host in its own words.
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
    /** False if the app has no answer of its own. */
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

  /** From now on the app answers requests. It must be ready and must not listen itself. */
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
      // A client whose handshake failed cannot be answered.
      if (!this.#connections.has(socket)) socket.destroy()
      else if (error.code !== 'ERR_HTTP_REQUEST_TIMEOUT') app.server.emit('clientError', error, socket)
      else
        this.#connections.unlessAsked(socket as Socket, () => app.server.emit('clientError', error, socket))
    })
    if (readIdleMs !== undefined) this.#connections.endStalled(readIdleMs, stalled)
    if (!this.#server.listening) await this.#listen()
  }

  /** Takes over a connection from which nothing was read yet. */
  take(socket: Socket): void {
    this.#server.emit('connection', socket)
    socket.resume()
  }

  /** Uses another certificate for new connections; open ones go on. Throws if it cannot be used. */
  useCertificate(tls: TlsCertificate): void {
    ;(this.#server as TlsServer).setSecureContext(tlsOptions(tls))
  }

  /** Stops taking connections, which other processes at this address do; each answer is the last one on its connection. */
  release(): void {
    this.leave()
    this.#closed ??= this.#close()
  }

  /** After `release`: resolves when every client has gone, or after `forMs`. */
  async unconnected(forMs: number): Promise<void> {
    const over = new AbortController()
    const late = wait(forMs, undefined, { signal: over.signal }).catch(() => {})
    await Promise.race([this.#closed, late])
    over.abort()
  }

  /** Goes on taking connections and requests; each answer announces that it is the last one on its connection. */
  leave(): void {
    if (this.#isLeaving) return
    this.#isLeaving = true
    this.#connections.sayLast()
  }

  /** After `leave`: resolves when no client sends requests any more, except for health, or after `forMs`. */
  async unasked(forMs: number): Promise<void> {
    const endMs = performance.now() + forMs
    for (let looks = 0; looks < UNASKED_LOOKS && performance.now() < endMs;) {
      const before = this.#askedWhileLeaving
      await wait(SWEEP_MS)
      looks = this.#askedWhileLeaving === before ? looks + 1 : 0
    }
  }

  /** Stops taking connections, waits up to `forMs` for requests in progress, and cuts the others. */
  async close(forMs = 0): Promise<void> {
    this.leave()
    this.#closed ??= this.#close()
    // A client keeps its idle connection open, which would hold the node until the end of the drain. While the drain waits for others
    // anyway, it may stay: a request on it is answered, and the answer closes the connection. Closed only after the bytes in the
    // sockets were read: a connection with a request in it is not idle, however late this process is.
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
   * Resolves right after a turn of the event loop in which no connection came and little else was done. When the listener closes, the
   * system resets connections that this process has not accepted yet, with the requests in them; Node accepts one per turn.
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
    // It may be stopped before it was ever bound.
    if (!this.#server.listening) {
      await this.#app?.close()
      return
    }
    await this.#quietTurn()
    const closed = once(this.#server, 'close')
    // Not the method of node:http, which would also stop looking for clients that are slow to send their headers.
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

/** Health as the app will answer it; everything else is refused before it is read. */
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
