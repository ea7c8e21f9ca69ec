/** Processes of a measurement: started on a core, read from /proc, ended by id. */
import { spawn, type ChildProcess } from 'node:child_process'
import { closeSync, openSync, readFileSync } from 'node:fs'
import { connect, createServer, type AddressInfo } from 'node:net'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'

export interface Started {
  readonly pid: number
  /** Without a path. */
  readonly origin: string
}

const running = new Map<number, ChildProcess>()

export function spawnOn(
  core: number | string,
  command: string,
  args: readonly string[],
  env: Record<string, string>,
  outputFile?: string,
): { pid: number } {
  const output = outputFile === undefined ? 'ignore' : openSync(outputFile, 'a')
  const child = spawn('taskset', ['-c', String(core), command, ...args], {
    env: { ...process.env, ...env },
    stdio: ['ignore', output, 'inherit'],
  })
  if (output !== 'ignore') closeSync(output)
  const { pid } = child
  if (pid === undefined) throw new Error(`could not start ${command}`)
  running.set(pid, child)
  return { pid }
}

export interface Script<Answer> {
  /** Closes its input, which some processes take as the order to stop. */
  end(): void
  /** The JSON that it wrote at its end. */
  readonly answer: Promise<Answer>
}

/** A script of this folder. `niceness`: it must not take the core from those that measure. */
export function scriptOn<Answer>(
  core: number | string,
  script: string,
  question: unknown,
  niceness = 0,
): Script<Answer> {
  const program = [process.execPath, join(import.meta.dirname, script), JSON.stringify(question)]
  const child = spawn('taskset', ['-c', String(core), 'nice', '-n', String(niceness), ...program], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const { pid } = child
  if (pid === undefined) throw new Error(`could not start ${script}`)
  running.set(pid, child)
  let text = ''
  child.stdout.on('data', (chunk: Buffer) => (text += chunk.toString()))
  const answer = once(child, 'close').then(([code]) => {
    running.delete(pid)
    if (code !== 0) throw new Error(`${script} ended with ${code}`)
    return JSON.parse(text) as Answer
  })
  // A process that stops before its answer has no result.
  answer.catch(() => {})
  return { end: () => child.stdin.end(), answer }
}

export async function stopAll(...pids: number[]): Promise<void> {
  for (const pid of pids.length > 0 ? pids : [...running.keys()]) {
    const child = running.get(pid)
    running.delete(pid)
    if (!child || child.exitCode !== null || child.signalCode !== null) continue
    child.kill('SIGTERM')
    await Promise.race([once(child, 'exit'), wait(5000)])
  }
}

/** utime + stime of the whole process. The clock ticks a hundred times a second. */
export function cpuMicroseconds(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[11]) + Number(fields[12])) * 10_000
}

/** The same for all ended children of this process: what a load took. */
export function endedChildrenCpuMicroseconds(): number {
  const stat = readFileSync('/proc/self/stat', 'utf8')
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[13]) + Number(fields[14])) * 10_000
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

/** For a server on which every request would count as a call. */
export async function portReady(port: number): Promise<void> {
  const deadline = Date.now() + 60_000
  for (;;) {
    const socket = connect(port, '127.0.0.1')
    const error: unknown = await once(socket, 'connect').then(
      () => undefined,
      (reason: unknown) => reason,
    )
    socket.destroy()
    if (error === undefined) return
    if (Date.now() > deadline) throw new Error(`nothing listens at port ${port}`)
    await wait(50)
  }
}

export async function httpReady(url: string, patienceMs = 60_000): Promise<void> {
  const deadline = Date.now() + patienceMs
  for (;;) {
    const status = await fetch(url).then(
      (answer) => answer.status,
      (error: unknown) => String(error),
    )
    if (status === 200) return
    if (Date.now() > deadline) throw new Error(`${url} is not ready: ${status}`)
    await wait(100)
  }
}

export interface Load {
  readonly requests: number
  readonly seconds: number
  readonly p50Ms: number
  readonly p99Ms: number
  readonly errors: number
}

/** Requests a second. */
export function rateOf({ requests, seconds }: Load): number {
  return requests / seconds
}

export interface WrkOptions {
  readonly url: string
  readonly script: string
  readonly connections: number
  readonly seconds: number
  readonly core: number | string
  /** After how long a request counts as failed. */
  readonly timeoutSeconds?: number
}

class NothingAnswered extends Error {
  constructor(text: string) {
    super(`no request was answered:\n${text}`)
  }
}

/** A shared machine may pause for seconds, and a cold process warms up; a gateway that is silent in this many looks is broken. */
const MAX_SILENT_LOOKS = 5

/** Repeats a look in which no request was answered. */
export async function answered<Figures>(look: () => Promise<Figures>): Promise<Figures> {
  for (let silent = 1; ; silent += 1)
    try {
      return await look()
    } catch (error) {
      if (!(error instanceof NothingAnswered) || silent === MAX_SILENT_LOOKS) throw error
    }
}

export async function wrk({
  url,
  script,
  connections,
  seconds,
  core,
  timeoutSeconds = 2,
}: WrkOptions): Promise<Load> {
  const args = [
    '-c',
    String(core),
    'wrk',
    '-t1',
    `-c${connections}`,
    `-d${seconds}s`,
    `--timeout=${timeoutSeconds}s`,
    '--latency',
    '-s',
    script,
    url,
  ]
  const child = spawn('taskset', args, { stdio: ['ignore', 'pipe', 'inherit'] })
  let text = ''
  child.stdout.on('data', (chunk: Buffer) => (text += chunk.toString()))
  await once(child, 'close')
  const found = (pattern: RegExp): string => pattern.exec(text)?.[1] ?? ''
  const requests = Number(found(/(\d+) requests in/))
  if (!requests) throw new NothingAnswered(text)
  const non2xx = Number(found(/Non-2xx or 3xx responses: (\d+)/))
  const socket = /Socket errors: connect (\d+), read (\d+), write (\d+), timeout (\d+)/.exec(text)
  const socketErrors = (socket?.slice(1) ?? []).reduce((sum, count) => sum + Number(count), 0)
  return {
    requests,
    seconds: durationMs(found(/requests in ([\d.]+\w+)/)) / 1000,
    p50Ms: durationMs(found(/50%\s+([\d.]+\w+)/)),
    p99Ms: durationMs(found(/99%\s+([\d.]+\w+)/)),
    errors: non2xx + socketErrors,
  }
}

function durationMs(text: string): number {
  const unit = text.replace(/[\d.]+/, '')
  const scale = { us: 0.001, ms: 1, s: 1000, m: 60_000 }[unit] ?? Number.NaN
  return Number.parseFloat(text) * scale
}
