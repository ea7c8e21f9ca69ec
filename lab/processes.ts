/** Processes of the lab: started on a core, read from /proc, ended by id. */
import { spawn, type ChildProcess } from 'node:child_process'
import { closeSync, openSync, readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { once } from 'node:events'
import { setTimeout as wait } from 'node:timers/promises'
import { tied } from '../server/test/support/system.ts'

export interface Started {
  readonly pid: number
  /** Without a path. */
  readonly origin: string
}

/** A start on a busy machine. */
const READY_MS = 60_000

const running = new Map<number, ChildProcess>()

/** `stopAll` ends it too. */
export function keep(child: ChildProcess, what: string): number {
  const { pid } = child
  if (pid === undefined) throw new Error(`could not start ${what}`)
  running.set(pid, child)
  child.once('exit', () => running.delete(pid))
  return pid
}

/** The command on these cores, if any are named. If this process is killed, the system ends what it started. */
export function commandOn(core: number | string | undefined, command: readonly string[]): readonly string[] {
  const [program, args] = tied(command)
  const onCore = core === undefined || process.platform !== 'linux' ? [] : ['taskset', '-c', String(core)]
  return [...onCore, program, ...args]
}

/** Without an output file its errors are shown here. */
export function spawnOn(
  core: number | string | undefined,
  command: string,
  args: readonly string[],
  env: Record<string, string>,
  outputFile?: string,
): { pid: number } {
  const output = outputFile === undefined ? 'ignore' : openSync(outputFile, 'a')
  const [program = '', ...rest] = commandOn(core, [command, ...args])
  const child = spawn(program, rest, {
    env: { ...process.env, ...env },
    stdio: ['ignore', output, output === 'ignore' ? 'inherit' : output],
  })
  if (output !== 'ignore') closeSync(output)
  return { pid: keep(child, command) }
}

export interface Script<Answer> {
  /** Closes its input, which some processes take as the order to stop. */
  end(): void
  /** The JSON that it wrote at its end. */
  readonly answer: Promise<Answer>
}

/** A script with its path. `niceness`: it must not take the core from those that measure. */
export function scriptOn<Answer>(
  core: number | string | undefined,
  script: string,
  question: unknown,
  niceness = 0,
): Script<Answer> {
  const program = [process.execPath, script, JSON.stringify(question)]
  const [command = '', ...args] = commandOn(core, ['nice', '-n', String(niceness), ...program])
  const child = spawn(command, args, {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  keep(child, script)
  let text = ''
  child.stdout.on('data', (chunk: Buffer) => (text += chunk.toString()))
  const answer = once(child, 'close').then(([code]) => {
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

/** Unix time at which it was seen to be so. */
export async function until(
  what: string,
  withinMs: number,
  isSo: () => boolean | Promise<boolean>,
): Promise<number> {
  const endMs = performance.now() + withinMs
  while (!(await isSo())) {
    if (performance.now() > endMs) throw new Error(`waited ${withinMs / 1000} s in vain: ${what}`)
    await wait(50)
  }
  return Date.now()
}

/** For a server on which every request would count as a call. */
export async function portReady(port: number): Promise<void> {
  await until(`something listens at port ${port}`, READY_MS, async () => {
    const socket = connect(port, '127.0.0.1')
    const isOpen = await once(socket, 'connect').then(
      () => true,
      () => false,
    )
    socket.destroy()
    return isOpen
  })
}

export async function httpReady(url: string, withinMs = READY_MS): Promise<void> {
  await until(`${url} is ready`, withinMs, async () => {
    const answer = await fetch(url).catch(() => undefined)
    await answer?.arrayBuffer()
    return answer?.status === 200
  })
}
