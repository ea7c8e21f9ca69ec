/** `torana start` as a process: the one launcher of the lab. */
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, existsSync, mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { bareEnvironment, PROGRAM } from '../server/test/support/process.ts'
import { freePort } from '../server/test/support/servers.ts'
import { commandOn, keep } from './processes.ts'

export const REPOSITORY: string = join(import.meta.dirname, '..')
/** Several of them start together on a busy machine. */
const READY_MS = 180_000
const LOOK_MS = 50
/** No log file. */
export const DISCARD = ''
/** What a node writes when it is ready. */
const BANNER = /Base URL +http[\s\S]*Metrics +http/

export interface ToranaOptions {
  /** Its file, its data and its log are here. */
  readonly folder: string
  /** Names them. Undefined: by its port. */
  readonly name?: string | undefined
  /** The content of torana.yaml, or its text. Undefined: `env` names a file, or the node has none. */
  readonly config?: object | string | undefined
  readonly env?: Readonly<Record<string, string>>
  /** The rest of the caller's environment goes to the node too. Keys and addresses there change what is tested. */
  readonly inheritsEnvironment?: boolean
  /** Node's own options. */
  readonly flags?: readonly string[]
  readonly program?: string | undefined
  /** Its command and options. */
  readonly args?: readonly string[]
  /** Undefined: any. */
  readonly core?: number | string | undefined
  /** DISCARD: its log is discarded, and errors go to the caller's. Undefined: a file in the folder. */
  readonly logFile?: string | undefined
  readonly port?: number | undefined
  readonly controlPort?: number | undefined
  /** Whether `/readyz` is asked for: a node that was asked waits for balancers when it stops. Undefined: it is not,
   * and the log says when it is ready. */
  readonly asksReadyz?: boolean
  /** How long a start may take. */
  readonly patienceMs?: number | undefined
}

export interface ToranaEnd {
  /** Exit code, or the signal that ended it before any of its code had run. */
  readonly code: number | NodeJS.Signals
  /** From the signal to the end. */
  readonly tookMs: number
}

/** Not started yet. */
export async function newTorana(options: ToranaOptions): Promise<Torana> {
  const { port = await freePort(), controlPort = await freePort() } = options
  return new Torana(options, port, controlPort)
}

/** Resolves once it is ready. */
export async function startTorana(options: ToranaOptions): Promise<Torana> {
  const torana = await newTorana(options)
  await torana.start()
  return torana
}

export class Torana {
  readonly name: string
  readonly port: number
  readonly controlPort: number
  readonly url: string
  readonly controlUrl: string
  readonly configFile: string
  readonly dataFolder: string
  /** Empty: it has none. */
  readonly logFile: string
  /** Decides its version. */
  program: string
  asksReadyz: boolean
  readonly #options: ToranaOptions
  #child: ChildProcess | undefined
  #exit: Promise<unknown> | undefined
  #wasKilled = false
  /** Where the log of this start begins. */
  #logFrom = 0

  constructor(options: ToranaOptions, port: number, controlPort: number) {
    const { folder, name = `torana-${port}`, config, logFile, program = PROGRAM } = options
    this.#options = options
    this.name = name
    this.port = port
    this.controlPort = controlPort
    this.url = `http://127.0.0.1:${port}`
    this.controlUrl = `http://127.0.0.1:${controlPort}`
    this.configFile = join(folder, `${name}.yaml`)
    this.dataFolder = options.env?.['TORANA_DATA_DIR'] ?? join(folder, `data-${name}`)
    this.logFile = logFile ?? join(folder, `${name}.log`)
    this.program = program
    this.asksReadyz = options.asksReadyz ?? false
    mkdirSync(folder, { recursive: true })
    // Every JSON text is YAML.
    if (config !== undefined)
      writeFileSync(this.configFile, typeof config === 'string' ? config : JSON.stringify(config, null, 2))
  }

  get pid(): number {
    return this.#child?.pid ?? 0
  }

  get hasEnded(): boolean {
    return this.#child !== undefined && (this.#child.exitCode ?? this.#child.signalCode) !== null
  }

  async start(): Promise<void> {
    this.launch()
    await this.ready()
  }

  /** Does not wait until it is ready. */
  launch(): void {
    const {
      folder,
      config,
      env = {},
      inheritsEnvironment,
      flags = [],
      args = ['start'],
      core,
    } = this.#options
    const log = this.logFile === DISCARD ? undefined : openSync(this.logFile, 'a')
    const command = [process.execPath, ...flags, this.program, ...args]
    const [program = '', ...options] = commandOn(core, command)
    this.#wasKilled = false
    this.#logFrom = this.log().length
    this.#child = spawn(program, options, {
      cwd: folder,
      env: {
        ...(inheritsEnvironment ? process.env : bareEnvironment()),
        PORT: String(this.port),
        CONTROL_PORT: String(this.controlPort),
        TORANA_DATA_DIR: this.dataFolder,
        ...(config !== undefined && { TORANA_CONFIG: this.configFile }),
        ...env,
      },
      stdio: ['ignore', log ?? 'ignore', log ?? 'inherit'],
    })
    if (log !== undefined) closeSync(log)
    keep(this.#child, this.name)
    this.#exit = once(this.#child, 'exit')
  }

  /** `whileRestarted`: another starts after one that has ended. */
  async ready({ whileRestarted = false } = {}): Promise<void> {
    const endMs = performance.now() + (this.#options.patienceMs ?? READY_MS)
    while (!(await this.isReady())) {
      if ((this.hasEnded && !whileRestarted) || performance.now() > endMs)
        throw new Error(`${this.name} does not get ready: ${this.log().slice(-2000)}`)
      await wait(LOOK_MS)
    }
  }

  async isReady(): Promise<boolean> {
    if (!this.asksReadyz) return BANNER.test(this.log().slice(this.#logFrom))
    const answer = await fetch(`${this.url}/readyz`).catch(() => undefined)
    await answer?.arrayBuffer()
    return answer?.status === 200
  }

  /** What it wrote so far. */
  log(): string {
    return existsSync(this.logFile) ? readFileSync(this.logFile, 'utf8') : ''
  }

  signal(name: NodeJS.Signals): void {
    this.#child?.kill(name)
  }

  /** Resolves when it has ended, however. */
  async ended(): Promise<number | NodeJS.Signals> {
    await this.#exit
    return this.#child?.exitCode ?? this.#child?.signalCode ?? 'SIGKILL'
  }

  async stop(): Promise<ToranaEnd> {
    const startMs = performance.now()
    this.signal('SIGTERM')
    const code = await this.ended()
    return { code, tookMs: performance.now() - startMs }
  }

  /** Resolves when the process is gone. One that is still starting is killed just the same. */
  async kill9(): Promise<void> {
    this.#wasKilled = true
    this.signal('SIGKILL')
    await this.#exit
  }

  /** How it ended by itself, if it did. */
  crash(): string | undefined {
    if (this.#wasKilled || !this.hasEnded) return undefined
    const end = this.#child?.signalCode ?? this.#child?.exitCode
    return `${this.name} on port ${this.port} ended by itself with ${end}: see ${this.logFile}`
  }

  /** Workers of a supervisor. */
  children(): number[] {
    const text = readFileSync(`/proc/${this.pid}/task/${this.pid}/children`, 'utf8').trim()
    return text === '' ? [] : text.split(' ').map(Number)
  }
}
