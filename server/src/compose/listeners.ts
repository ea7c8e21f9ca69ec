/** Composition of the two ports: bound before anything else is opened, so that a taken one is told first. */
import type { FastifyInstance } from 'fastify'
import type { Limits, Settings } from '#core/settings.ts'
import { Listener } from '#http/listener.ts'
import { systemClock } from '#runtime/clock.ts'
import { uuidv7Identifiers } from '#runtime/identifiers.ts'

/** What comes in a tenth of a second of overload. */
const BACKLOG = 4096

export interface Apps {
  readonly gateway: FastifyInstance
  readonly control: FastifyInstance
}

export class Listeners implements AsyncDisposable {
  readonly #gateway: Listener
  readonly #control: Listener
  #isDraining = false

  private constructor(gateway: Listener, control: Listener) {
    this.#gateway = gateway
    this.#control = control
  }

  static async bind(settings: Settings): Promise<Listeners> {
    const identifiers = uuidv7Identifiers(systemClock)
    const nextId = (): string => identifiers.next()
    const { host, port, publicUrl } = settings
    const gateway = await Listener.bind({ host, port, backlog: BACKLOG, nextId, docsUrl: publicUrl })
    try {
      const control = await Listener.bind({
        host: settings.controlHost,
        port: settings.controlPort,
        nextId,
        docsUrl: publicUrl ?? gateway.url,
      })
      return new Listeners(gateway, control)
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
  async open({ gateway, control }: Apps, limits: Limits, dropped: () => void): Promise<void> {
    const { headersTimeoutMs, imageTimeoutMs, maxConnections } = limits
    await Promise.all([gateway.ready(), control.ready()])
    const bounds = {
      headersTimeout: headersTimeoutMs,
      // As long as its answer may take: 256 MB of pictures over a slow line.
      requestTimeout: Math.max(imageTimeoutMs, headersTimeoutMs),
      maxConnections,
    }
    this.#gateway.open(gateway, bounds, dropped)
    this.#control.open(control)
  }

  /** The public listener takes no more requests, and waits so long for requests under way. */
  async drain(forMs: number): Promise<void> {
    this.#isDraining = true
    await this.#gateway.drain(forMs)
  }

  /** Does not wait for callers: `drain` did, as long as it may. */
  async close(): Promise<void> {
    void this.#gateway.close()
    await this.#control.close()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }
}
