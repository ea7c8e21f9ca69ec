/** `torana start` as a separate process, started and ended as a person would. */
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after } from 'node:test'
import { PATIENCE_MS } from './patience.ts'
import { cpuMsOf } from './system.ts'

/** Runs the sources as they are: for tests that reach into a module of them. */
export const SOURCE_PROGRAM: string = join(import.meta.dirname, '../../bin/torana.js')
/** The program that all other tests start: a built package if one is named, which starts in half the time. */
export const PROGRAM: string = process.env['TORANA_TEST_PROGRAM'] ?? SOURCE_PROGRAM

export interface Torana {
  /** Public address without a path. */
  readonly url: string
  readonly controlUrl: string
  readonly pid: number
  /** CPU time: on the clock, a start takes as long as the neighbours let it. */
  readonly startedInCpuMs: number
  stdout(): string
  stderr(): string
  signal(name: 'SIGTERM' | 'SIGINT' | 'SIGHUP'): void
  /** The exit code. */
  ended(): Promise<number | null>
}

export interface ToranaOptions {
  readonly folder: string
  readonly env?: Readonly<Record<string, string>>
  readonly args?: readonly string[]
  /** Another than that of this repository. */
  readonly program?: string
  /** Options of Node itself. */
  readonly nodeArgs?: readonly string[]
}

/** An empty folder that is gone after the tests. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'torana-test-'))
  after(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

export interface Running {
  readonly child: ChildProcess
  readonly exit: Promise<number | null>
  readonly stdout: () => string
  readonly stderr: () => string
}

/** Nothing of the caller's environment except the path of programs and Node's compile cache. */
export function bareEnvironment(): Record<string, string> {
  const { PATH = '', NODE_COMPILE_CACHE } = process.env
  return { PATH, ...(NODE_COMPILE_CACHE !== undefined && { NODE_COMPILE_CACHE }) }
}

/** Runs the program with nothing in its environment but what is given. Without a DATABASE_URL it has a database of its own. */
export function runTorana({
  folder,
  env = {},
  args = ['start'],
  program = PROGRAM,
  nodeArgs = [],
}: ToranaOptions): Running {
  const child = spawn(process.execPath, [...nodeArgs, program, ...args], {
    cwd: folder,
    env: { ...bareEnvironment(), PORT: '0', CONTROL_PORT: '0', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let stdout = ''
  let stderr = ''
  child.stdout?.on('data', (chunk: Buffer) => (stdout += chunk.toString()))
  child.stderr?.on('data', (chunk: Buffer) => (stderr += chunk.toString()))
  // `close` comes after the last output, `exit` may come before.
  const exit = once(child, 'close').then(([code]) => code as number | null)
  after(async () => {
    if (child.exitCode === null) child.kill('SIGKILL')
    await exit
  })
  return { child, exit, stdout: () => stdout, stderr: () => stderr }
}

/** Resolves once the program reports that it is ready. */
export async function startTorana(options: ToranaOptions): Promise<Torana> {
  const { child, exit, stdout, stderr } = runTorana(options)
  const isReady = (): boolean => /Torana is ready\.[\s\S]*Metrics[\s\S]*\n\n/.test(stderr())
  const ready = new Promise<void>((resolve) => child.stderr?.on('data', () => isReady() && resolve()))
  const timer = AbortSignal.timeout(PATIENCE_MS)
  await Promise.race([
    ready,
    exit.then((code) => Promise.reject(new Error(`torana ended with ${code}: ${stderr()}${stdout()}`))),
    new Promise((_, reject) =>
      timer.addEventListener('abort', () => reject(new Error(`not ready: ${stderr()}`))),
    ),
  ])
  const pid = child.pid ?? 0
  const address = (label: string): string =>
    new RegExp(`${label} +(http://[^/\\s]+)`).exec(stderr())?.[1] ?? ''
  return {
    url: address('Base URL'),
    controlUrl: address('Metrics'),
    pid,
    startedInCpuMs: cpuMsOf(pid),
    stdout,
    stderr,
    signal: (name) => void child.kill(name),
    ended: () => exit,
  }
}

/** Tries until it succeeds, for background work of the program. */
export async function eventually<Value>(
  attempt: () => Promise<Value>,
  withinMs = PATIENCE_MS,
): Promise<Value> {
  const endMs = performance.now() + withinMs
  for (;;) {
    try {
      return await attempt()
    } catch (error) {
      if (performance.now() > endMs) throw error
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  }
}
