/** Composition of the two ports and of the socket for commands. Ports are bound before anything else is opened, so that a taken one is told first. */
import { chmodSync, lstatSync, unlinkSync } from 'node:fs'
import type { FastifyInstance } from 'fastify'
import type { Limits, Settings } from '#core/settings.ts'
import { Listener, type ListenerEvents } from '#http/listener.ts'
import { systemClock } from '#runtime/clock.ts'
import { controlSocketOf, pathProblem } from '#runtime/control-socket.ts'
import { uuidv7Identifiers } from '#runtime/identifiers.ts'

/** What comes in a tenth of a second of overload. */
const BACKLOG = 4096

/** What is asked on the control port takes milliseconds. */
const CONTROL_MS = 500

export interface Apps {
  readonly gateway: FastifyInstance
  readonly control: FastifyInstance
}

export class Listeners implements AsyncDisposable {
  readonly #gateway: Listener
  readonly #control: Listener
  readonly #nextId: () => string
  /** Undefined until it is opened, or where it can't be. */
  #socket: Listener | undefined
  #isDraining = false

  private constructor(gateway: Listener, control: Listener, nextId: () => string) {
    this.#gateway = gateway
    this.#control = control
    this.#nextId = nextId
  }

  static async bind(settings: Settings): Promise<Listeners> {
    const identifiers = uuidv7Identifiers(systemClock)
    const nextId = (): string => identifiers.next()
    const { host, port, publicUrl } = settings
    const gateway = await Listener.bind({
      at: { host, port },
      backlog: BACKLOG,
      nextId,
      docsUrl: publicUrl,
      appChecksHost: true,
    })
    try {
      const control = await Listener.bind({
        at: { host: settings.controlHost, port: settings.controlPort },
        nextId,
        docsUrl: publicUrl ?? gateway.url,
      })
      return new Listeners(gateway, control, nextId)
    } catch (error) {
      await gateway.close()
      throw error
    }
  }

  /** Where the public listener answers, without a path. */
  get url(): string {
    return this.#gateway.url
  }

  get controlUrl(): string {
    return this.#control.url
  }

  get isDraining(): boolean {
    return this.#isDraining
  }

  /** From now on requests are the apps'. */
  async open({ gateway, control }: Apps, limits: Limits, events: ListenerEvents): Promise<void> {
    const { headersTimeoutMs, imageTimeoutMs, maxConnections, downloadIdleMs } = limits
    await Promise.all([gateway.ready(), control.ready()])
    const bounds = {
      headersTimeout: headersTimeoutMs,
      // As long as its answer may take: 256 MB of pictures over a slow line.
      requestTimeout: Math.max(imageTimeoutMs, headersTimeoutMs),
      maxConnections,
      readIdleMs: downloadIdleMs,
    }
    this.#gateway.open(gateway, bounds, events)
    this.#control.open(control, { readIdleMs: downloadIdleMs }, events)
  }

  /**
   * From now on commands on this machine reach the control app by a socket in the data folder too. The folder is there and
   * ours by now. Throws when there can be no socket, which ends no node: commands can use the port.
   */
  async openSocket({ dataDir, controlPort }: Settings, control: FastifyInstance): Promise<void> {
    // Commands can't know the port, so they can't know the socket.
    if (controlPort === 0) return
    const path = controlSocketOf(dataDir, controlPort)
    const problem = pathProblem(path)
    if (problem !== undefined) throw new Error(problem)
    // Left by a node that was killed: the port is ours, so no other node has it.
    if (lstatSync(path, { throwIfNoEntry: false })?.isSocket()) unlinkSync(path)
    const socket = await Listener.bind({ at: { path }, nextId: this.#nextId, docsUrl: this.#gateway.url })
    this.#socket = socket
    chmodSync(path, 0o600)
    socket.open(control)
  }

  /** From now on the node says that it is not ready. It takes what still comes, and asks each client to connect elsewhere. */
  leave(): void {
    this.#isDraining = true
    this.#gateway.leave()
  }

  /** The public listener takes no more requests, waits so long for requests under way, and cuts the others. */
  async drain(forMs: number): Promise<void> {
    this.leave()
    await this.#gateway.close(forMs)
  }

  /** Callers are not waited for: `drain` did, as long as it may. */
  async close(): Promise<void> {
    const control = [this.#control.close(CONTROL_MS), this.#socket?.close(CONTROL_MS)]
    await Promise.all([this.#gateway.close(), ...control])
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }
}
