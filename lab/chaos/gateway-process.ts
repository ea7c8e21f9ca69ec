/** One gateway under a supervisor: a process that is restarted as soon as it has ended, however it ended. */
import { setTimeout as wait } from 'node:timers/promises'
import type { Torana } from '../torana.ts'

/** A gateway that can't start is not started a hundred times per second. */
const RESTART_PAUSE_MS = 50

export class GatewayProcess {
  readonly #torana: Torana
  #isStopping = false
  #supervision: Promise<void> | undefined
  /** Unexpected ends. */
  readonly crashes: string[] = []

  constructor(torana: Torana) {
    this.#torana = torana
  }

  get port(): number {
    return this.#torana.port
  }

  /** Of the process that runs now. */
  get pid(): number {
    return this.#torana.pid
  }

  get dataFolder(): string {
    return this.#torana.dataFolder
  }

  get controlUrl(): string {
    return this.#torana.controlUrl
  }

  start(): void {
    this.#supervision ??= this.#supervise()
  }

  /** The next one starts immediately. */
  kill9(): void {
    void this.#torana.kill9()
  }

  isReady(): Promise<boolean> {
    return this.#torana.isReady()
  }

  async ready(): Promise<void> {
    await this.#torana.ready({ whileRestarted: true })
  }

  async stop(): Promise<void> {
    this.#isStopping = true
    this.kill9()
    await this.#supervision
  }

  async #supervise(): Promise<void> {
    while (!this.#isStopping) {
      this.#torana.launch()
      await this.#torana.ended()
      if (this.#isStopping) return
      const crash = this.#torana.crash()
      if (crash !== undefined) this.crashes.push(crash)
      await wait(RESTART_PAUSE_MS)
    }
  }
}
