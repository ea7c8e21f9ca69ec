/** `torana start` as a process that is stopped and started again, from this source tree or another. */
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, mkdirSync, openSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { bareEnvironment } from '../../../server/test/support/process.ts'

export const REPOSITORY: string = join(import.meta.dirname, '../../..')
/** A start on a busy machine, with a migration in it. */
const READY_MS = 600_000

export interface ToranaOptions {
  readonly name: string
  readonly folder: string
  readonly port: number
  readonly controlPort: number
  readonly env: Readonly<Record<string, string>>
  readonly args?: readonly string[]
}

export class ToranaProcess {
  readonly #options: ToranaOptions
  readonly url: string
  readonly controlUrl: string
  readonly logFile: string
  /** The folder of the program, which decides its version. */
  source = REPOSITORY
  /** A node that is never asked for it stops as behind balancers that only try to connect. */
  asksReadyz = true
  #child: ChildProcess | undefined
  #exit: Promise<unknown> | undefined

  constructor(options: ToranaOptions) {
    this.#options = options
    this.url = `http://127.0.0.1:${options.port}`
    this.controlUrl = `http://127.0.0.1:${options.controlPort}`
    mkdirSync(join(options.folder, options.name), { recursive: true })
    this.logFile = join(options.folder, `${options.name}.log`)
  }

  get name(): string {
    return this.#options.name
  }

  get pid(): number {
    return this.#child?.pid ?? 0
  }

  get port(): number {
    return this.#options.port
  }

  async start(): Promise<void> {
    const { name, folder, port, controlPort, env, args = [] } = this.#options
    const log = openSync(this.logFile, 'a')
    const program = join(this.source, 'server/bin/torana.js')
    // If this process is killed, the system ends it.
    this.#child = spawn('setpriv', ['--pdeathsig', 'KILL', process.execPath, program, 'start', ...args], {
      cwd: folder,
      env: {
        ...bareEnvironment(),
        PORT: String(port),
        CONTROL_PORT: String(controlPort),
        TORANA_DATA_DIR: join(folder, name),
        TORANA_SECRET: 'the same secret on every node',
        LOG_LEVEL: 'info',
        ...env,
      },
      stdio: ['ignore', log, log],
    })
    closeSync(log)
    this.#exit = once(this.#child, 'exit')
    const endMs = performance.now() + READY_MS
    while (!(await this.isReady())) {
      if (this.#child.exitCode !== null || performance.now() > endMs)
        throw new Error(`${name} does not get ready: ${readFileSync(this.logFile, 'utf8').slice(-2000)}`)
      await wait(100)
    }
  }

  /** Its public port is open only while it can serve. */
  async isReady(): Promise<boolean> {
    const path = this.asksReadyz ? '/readyz' : '/livez'
    const answer = await fetch(`${this.url}${path}`).catch(() => undefined)
    await answer?.arrayBuffer()
    return answer?.status === 200
  }

  signal(name: NodeJS.Signals): void {
    this.#child?.kill(name)
  }

  /** Resolves with the exit code, and how long it took. */
  async stop(): Promise<{ readonly code: number | null; readonly tookMs: number }> {
    const startMs = performance.now()
    this.signal('SIGTERM')
    await this.#exit
    return { code: this.#child?.exitCode ?? null, tookMs: performance.now() - startMs }
  }

  /** Workers of a supervisor. */
  children(): number[] {
    const text = readFileSync(`/proc/${this.pid}/task/${this.pid}/children`, 'utf8').trim()
    return text === '' ? [] : text.split(' ').map(Number)
  }
}
