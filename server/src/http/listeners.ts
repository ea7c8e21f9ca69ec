/**
 * The two ports and the socket for commands. A port in use is reported before anything else is opened. Both ports answer from then
 * on, except the public one of a node with PostgreSQL: it opens when the node can serve. Many balancers only try to connect, and
 * send requests to every port that is open.
 */
import { chmodSync } from 'node:fs'
import type { Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'
import { tasksOf } from '#core/node/node-role.ts'
import type { Limits, Settings } from '#core/settings.ts'
import {
  checkFree,
  Listener,
  urlOf,
  type ListenerBounds,
  type ListenerEvents,
  type ListenerOptions,
  type TlsCertificate,
} from './listener.ts'

/** Queue of connections at the public port: a tenth of a second of overload. */
const BACKLOG = 4096

/** Time for requests in progress on the control port and the socket when they close: such a request takes milliseconds. */
const CONTROL_CLOSE_MS = 500

export interface Apps {
  readonly gateway: FastifyInstance
  readonly control: FastifyInstance
}

export type PortName = 'public' | 'control'

export interface BindOptions extends Pick<ListenerOptions, 'nextId' | 'tls'> {
  /** Other processes of this node answer at the same addresses: this one joins them when it is ready. */
  readonly isLate: boolean
}

interface OpenOptions extends BindOptions {
  /** The public port opens when the node can serve; otherwise it answers until then that the node is starting. */
  readonly opensReady: boolean
}

type BoundSettings = Pick<
  Settings,
  'host' | 'port' | 'publicUrl' | 'controlHost' | 'controlPort' | 'role' | 'database' | 'tls'
>

export class Listeners implements AsyncDisposable {
  /** Undefined: this process takes no requests. */
  readonly #gateway: Listener | undefined
  readonly #control: Listener
  readonly #options: OpenOptions
  #certificate: TlsCertificate | undefined
  /** The address of the public port, as far as this process knows. */
  readonly url: string
  /** Undefined until it is opened, or where it can't be. */
  #socket: Listener | undefined
  /** Whether the apps answer on both ports. */
  isOpen = false
  #isDraining = false
  /** Bounds of the control port and of the socket, once the ports are open. */
  #controlBounds: ListenerBounds = {}

  private constructor(
    parts: { readonly gateway: Listener | undefined; readonly control: Listener; readonly url: string },
    options: OpenOptions,
  ) {
    this.#gateway = parts.gateway
    this.#control = parts.control
    this.url = parts.url
    this.#options = options
    this.#certificate = options.tls
  }

  static async bind(settings: BoundSettings, given: BindOptions): Promise<Listeners> {
    const { nextId, tls, isLate } = given
    const { host, port, publicUrl } = settings
    const common = { nextId, bindsLate: isLate, tls }
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
      return new Listeners({ gateway, control, url }, { ...given, opensReady })
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

  /** From now on the apps answer. A public port that is not open yet opens once `canServe` has resolved. */
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
      // As long as its answer may take: 256 MB of images over a slow line.
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

  /** Whether other processes of this node use the same ports and the same socket. */
  get joinsOthers(): boolean {
    return this.#options.isLate
  }

  /** From now on commands on this machine reach the control app through a socket too. */
  async openSocket(path: string, commands: FastifyInstance): Promise<void> {
    await commands.ready()
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

  /** Shows another certificate from now on. Throws if it can't be used; then the earlier one stays. */
  useCertificate(tls: TlsCertificate): void {
    this.#control.useCertificate(tls)
    this.#gateway?.useCertificate(tls)
    this.#certificate = tls
  }

  /** The certificate of both ports. Undefined: they speak plain HTTP. */
  get certificate(): TlsCertificate | undefined {
    return this.#certificate
  }

  /** From now on the node is not ready. It still serves what comes, and asks each client to connect elsewhere. */
  leave(): void {
    this.#isDraining = true
    this.#gateway?.leave()
  }

  /** The same where no balancer checks readiness: balancers notice when the public port refuses connections. */
  refuse(): void {
    this.#isDraining = true
    this.#gateway?.release()
  }

  /** Once it refuses connections: resolves when every client has gone, or after `forMs`. */
  async unconnected(forMs: number): Promise<void> {
    await this.#gateway?.unconnected(forMs)
  }

  /** Resolves when no more requests come, or after `forMs`. Those that come are still served. */
  async unasked(forMs: number): Promise<void> {
    await this.#gateway?.unasked(forMs)
  }

  /** Another process has taken over: this one takes no more connections, and asks each client to connect again. */
  release(): void {
    for (const listener of [this.#gateway, this.#control, this.#socket]) listener?.release()
  }

  /** The public listener takes no more requests, waits up to `forMs` for those in progress, and cuts the rest. */
  async drain(forMs: number): Promise<void> {
    this.leave()
    await this.#gateway?.close(forMs)
  }

  /** Does not wait for callers: `drain` did. */
  async close(): Promise<void> {
    const control = [this.#control.close(CONTROL_CLOSE_MS), this.#socket?.close(CONTROL_CLOSE_MS)]
    await Promise.all([this.#gateway?.close(), ...control])
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }
}
