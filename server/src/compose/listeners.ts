/**
 * Composition of the two ports and of the socket for commands. A port in use is reported before anything else is opened. Both ports
 * answer from then on, but for the public one of a node with PostgreSQL: it opens when the node can serve. Many balancers only
 * try to connect, and send requests to every port that is open.
 */
import { chmodSync } from 'node:fs'
import type { Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'
import { readTls } from '#config/file/certificates.ts'
import { tasksOf } from '#core/node-role.ts'
import type { Limits, Settings } from '#core/settings.ts'
import {
  checkFree,
  Listener,
  urlOf,
  type ListenerBounds,
  type ListenerEvents,
  type ListenerOptions,
  type TlsCertificate,
} from '#http/listener.ts'
import { systemClock } from '#runtime/clock.ts'
import { controlSocketOf, pathProblem, removeLeftSocket } from '#runtime/control-socket.ts'
import { uuidv7Identifiers } from '#runtime/identifiers.ts'
import type { Log } from '#telemetry/log.ts'

/** What comes in a tenth of a second of overload. */
const BACKLOG = 4096

/** What is asked on the control port takes milliseconds. */
const CONTROL_MS = 500

export interface Apps {
  readonly gateway: FastifyInstance
  readonly control: FastifyInstance
}

export type PortName = 'public' | 'control'

export interface BindOptions {
  /** Other processes of this node answer at the same addresses: this one joins them when it is ready. */
  readonly isLate?: boolean
}

interface OpenOptions extends BindOptions, Pick<ListenerOptions, 'nextId'> {
  /** The public port opens when the node can serve; else it says meanwhile that the node starts. */
  readonly opensReady: boolean
}

export class Listeners implements AsyncDisposable {
  /** Undefined: this process takes no requests. */
  readonly #gateway: Listener | undefined
  readonly #control: Listener
  readonly #options: OpenOptions
  #certificate: TlsCertificate | undefined
  /** Where callers reach the public port of this install, as far as this process knows. */
  readonly url: string
  /** Undefined until it is opened, or where it can't be. */
  #socket: Listener | undefined
  /** Whether requests that come on both ports are the apps'. */
  isOpen = false
  #isDraining = false
  /** Those of the control port and of the socket, once the ports are open. */
  #controlBounds: ListenerBounds = {}

  private constructor(
    parts: { readonly gateway: Listener | undefined; readonly control: Listener; readonly url: string },
    options: OpenOptions & Pick<ListenerOptions, 'tls'>,
  ) {
    this.#gateway = parts.gateway
    this.#control = parts.control
    this.url = parts.url
    this.#options = options
    this.#certificate = options.tls
  }

  static async bind(settings: Settings, { isLate = false }: BindOptions = {}): Promise<Listeners> {
    const identifiers = uuidv7Identifiers(systemClock)
    const nextId = (): string => identifiers.next()
    const { host, port, publicUrl } = settings
    const common = { nextId, bindsLate: isLate, tls: settings.tls && readTls(settings.tls) }
    const options = { at: { host, port }, backlog: BACKLOG, docsUrl: publicUrl }
    const { takesRequests } = tasksOf(settings.role)
    // No balancer knows "any free port" before the node has named it.
    const opensReady = isLate || (settings.database.kind === 'postgres' && port !== 0)
    if (takesRequests && opensReady && !isLate) await checkFree(options.at)
    const bound = { ...common, ...options, bindsLate: opensReady }
    const gateway = takesRequests ? await Listener.bind(bound) : undefined
    const url = gateway?.url ?? urlOf({ host, port }, settings.tls !== undefined)
    try {
      const control = await Listener.bind({
        ...common,
        at: { host: settings.controlHost, port: settings.controlPort },
        docsUrl: publicUrl ?? url,
      })
      return new Listeners({ gateway, control, url }, { nextId, isLate, opensReady, tls: common.tls })
    } catch (error) {
      await gateway?.close()
      throw error
    }
  }

  get controlUrl(): string {
    return this.#control.url
  }

  get isDraining(): boolean {
    return this.#isDraining
  }

  /** From now on requests are the apps'. A public port that is not open yet opens once `canServe` has resolved. */
  async open(
    { gateway, control }: Apps,
    limits: Limits,
    events: ListenerEvents,
    canServe: () => Promise<void>,
  ): Promise<void> {
    const { headersTimeoutMs, imageTimeoutMs, maxConnections, downloadIdleMs } = limits
    await Promise.all([gateway.ready(), control.ready()])
    const bounds = {
      headersTimeout: headersTimeoutMs,
      // As long as its answer may take: 256 MB of pictures over a slow line.
      requestTimeout: Math.max(imageTimeoutMs, headersTimeoutMs),
      maxConnections,
      readIdleMs: downloadIdleMs,
    }
    this.#controlBounds = { ...bounds, maxConnections: limits.controlConnections }
    await this.#control.open(control, this.#controlBounds, events)
    if (this.#gateway && this.#options.opensReady) await canServe()
    await this.#gateway?.open(gateway, bounds, events)
    this.isOpen = true
  }

  /**
   * From now on commands on this machine reach the control app by a socket in the data folder too. The folder is there and
   * ours by now. Where there can be no socket, the node goes on: commands can use the port.
   */
  async openSocket(settings: Settings, commands: FastifyInstance, log: Log): Promise<void> {
    // Commands can't know the port, so they can't know the socket.
    if (settings.controlPort === 0) return
    await this.#openSocket(settings, commands).catch((error: unknown) => {
      log.warn({ err: error }, 'there is no socket for commands on this machine: they need --url')
    })
  }

  async #openSocket({ dataDir, controlPort }: Settings, commands: FastifyInstance): Promise<void> {
    const path = controlSocketOf(dataDir, controlPort)
    const problem = pathProblem(path)
    if (problem !== undefined) throw new Error(problem)
    await commands.ready()
    // The socket of the others is this one's too.
    if (this.#options.isLate !== true) removeLeftSocket(path)
    const { nextId } = this.#options
    const socket = await Listener.bind({ at: { path }, nextId, docsUrl: this.url })
    this.#socket = socket
    chmodSync(path, 0o600)
    await socket.open(commands, this.#controlBounds)
  }

  /** Takes a connection that another process has accepted at one of the ports. */
  take(to: PortName, socket: Socket): void {
    const listener = to === 'public' ? this.#gateway : this.#control
    listener?.take(socket)
  }

  /** Shows another certificate from now on. Throws if it can't be used; then the one before stays. */
  useCertificate(tls: TlsCertificate): void {
    this.#control.useCertificate(tls)
    this.#gateway?.useCertificate(tls)
    this.#certificate = tls
  }

  /** What both ports show; undefined: they speak plain HTTP. */
  get certificate(): TlsCertificate | undefined {
    return this.#certificate
  }

  /** From now on the node says that it is not ready. It takes what still comes, and asks each client to connect elsewhere. */
  leave(): void {
    this.#isDraining = true
    this.#gateway?.leave()
  }

  /** The same where no balancer asks for readiness: balancers notice when the public port refuses connections. */
  refuse(): void {
    this.#isDraining = true
    this.#gateway?.release()
  }

  /** Once it refuses connections: resolves when every client has gone, or after `forMs`. */
  async unconnected(forMs: number): Promise<void> {
    await this.#gateway?.unconnected(forMs)
  }

  /** Resolves when no more requests come, which are still taken; at the latest after so long. */
  async unasked(forMs: number): Promise<void> {
    await this.#gateway?.unasked(forMs)
  }

  /** Another process has taken over: this one takes no more connections, and asks each client to connect again. */
  release(): void {
    for (const listener of [this.#gateway, this.#control, this.#socket]) listener?.release()
  }

  /** The public listener takes no more requests, waits so long for requests under way, and cuts the others. */
  async drain(forMs: number): Promise<void> {
    this.leave()
    await this.#gateway?.close(forMs)
  }

  /** Callers are not waited for: `drain` did, as long as it may. */
  async close(): Promise<void> {
    const control = [this.#control.close(CONTROL_MS), this.#socket?.close(CONTROL_MS)]
    await Promise.all([this.#gateway?.close(), ...control])
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }
}
