/** One gateway under a supervisor: a process that is restarted as soon as it has ended, however it ended. */
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'
import { bareEnvironment, PROGRAM } from '../../server/test/support/process.ts'

/** Three of them start together on a busy machine. */
const READY_MS = 180_000
/** A gateway that can't start is not started a hundred times per second. */
const RESTART_PAUSE_MS = 50

export interface GatewayOptions {
  readonly port: number
  readonly controlPort: number
  readonly env: Readonly<Record<string, string>>
  readonly logFile: string
}

export class GatewayProcess {
  readonly #options: GatewayOptions
  #child: ChildProcess | undefined
  #isStopping = false
  #wasKilled = false
  #supervision: Promise<void> | undefined
  /** Unexpected ends. */
  readonly crashes: string[] = []

  constructor(options: GatewayOptions) {
    this.#options = options
  }

  get port(): number {
    return this.#options.port
  }

  get controlUrl(): string {
    return `http://127.0.0.1:${this.#options.controlPort}`
  }

  start(): void {
    this.#supervision ??= this.#supervise()
  }

  /** The next one starts immediately. A gateway that is still starting is killed just the same. */
  kill9(): void {
    this.#wasKilled = true
    this.#child?.kill('SIGKILL')
  }

  async isReady(): Promise<boolean> {
    const answer = await fetch(`http://127.0.0.1:${this.port}/readyz`).catch(() => undefined)
    return answer?.status === 200
  }

  async ready(): Promise<void> {
    const endMs = performance.now() + READY_MS
    while (!(await this.isReady())) {
      if (performance.now() > endMs) throw new Error(`the gateway on port ${this.port} does not get ready`)
      await wait(100)
    }
  }

  async stop(): Promise<void> {
    this.#isStopping = true
    this.#child?.kill('SIGKILL')
    await this.#supervision
  }

  async #supervise(): Promise<void> {
    while (!this.#isStopping) {
      this.#wasKilled = false
      const { port, controlPort, env, logFile } = this.#options
      const log = openSync(logFile, 'a')
      // If this process is killed, the system ends the gateway.
      this.#child = spawn('setpriv', ['--pdeathsig', 'KILL', process.execPath, PROGRAM, 'start'], {
        env: {
          ...bareEnvironment(),
          PORT: String(port),
          CONTROL_PORT: String(controlPort),
          LOG_LEVEL: 'error',
          ...env,
        },
        stdio: ['ignore', log, log],
      })
      closeSync(log)
      const [code, signal] = (await once(this.#child, 'exit')) as [number | null, string | null]
      if (this.#isStopping) return
      if (!this.#wasKilled) {
        this.crashes.push(
          `the gateway on port ${port} ended by itself with ${signal ?? code}: see ${logFile}`,
        )
      }
      await wait(RESTART_PAUSE_MS)
    }
  }
}
