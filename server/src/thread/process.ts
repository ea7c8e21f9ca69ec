/**
 * A process that does the work it is asked for by name, like a thread, and fails alone whatever it meets: V8 answers one allocation
 * that is too large by ending the process it happens in. Its inside is `serve.ts`.
 *
 * What bounds what, without any privileges:
 * - V8 bounds its heap: JavaScript values, strings included. Beyond it the process aborts.
 * - Memory as a whole, buffers included, is bounded on Linux alone, by looking at it ten times a second. Between two looks it can
 *   grow further. Elsewhere nothing but the heap is bounded.
 * - Should the machine or the container have no memory left before that, Linux ends this process first.
 */
import { fork, type ChildProcess } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import type { Socket } from 'node:net'
import { constants, setPriority } from 'node:os'
import { basename } from 'node:path'
import { Asked, SideEnded, type AskedLimits, type Reports, type Side } from './asked.ts'
import type { FromThread, Work } from './serve.ts'

/** The limits of a process. Each number has its reason where it is written. */
export interface ProcessLimits extends AskedLimits {
  /** Megabytes of JavaScript values. */
  readonly heapMb: number
  /** Megabytes of memory in all: values, buffers and the program itself. */
  readonly memoryMb: number
}

/** Interval between looks at its memory while it works: a look takes 30 microseconds. */
const WATCH_MS = 100
/** Size of half of the young generation: most values of a line live no longer than the line. */
const SEMI_SPACE_MB = 16
/** Characters kept of its last output: the cause is in the first lines. */
const MAX_WORDS = 8192
/** Environment variables that it gets: those that a system needs to start a program at all. No secret is among them. */
const PASSED_ON = ['LD_LIBRARY_PATH', 'SystemRoot'] as const
/** Large buffers go back to the system as soon as they are freed. */
const MALLOC = { MALLOC_ARENA_MAX: '2', MALLOC_MMAP_THRESHOLD_: '131072' }

export class Process<Works extends Record<string, Work>> extends Asked<Works> {
  /** `module` calls `serve`, and finds `words` behind its own name in `process.argv`. */
  constructor(module: URL, limits: ProcessLimits, words: readonly string[] = []) {
    super((reports) => startProcess(module, limits, words, reports), limits)
  }
}

function startProcess(
  module: URL,
  { heapMb, memoryMb }: ProcessLimits,
  words: readonly string[],
  reports: Reports,
): Side {
  const name = basename(module.pathname)
  const child = fork(module, words, {
    execArgv: [`--max-old-space-size=${heapMb}`, `--max-semi-space-size=${SEMI_SPACE_MB}`],
    env: { ...MALLOC, ...passedOn() },
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  })
  giveWay(child.pid)
  // Of the three, the child itself and its channel keep this process alive while there is a question.
  ;(child.stderr as Socket | null)?.unref()
  let said = ''
  child.stderr
    ?.setEncoding('utf8')
    .on('data', (text: string) => (said += text.slice(0, MAX_WORDS - said.length)))
  child.on('message', (message) => reports.message(message as FromThread))
  child.on('error', (error) =>
    reports.ended(new SideEnded(`the process of ${name} failed`, { cause: error })),
  )
  // Not at its exit: its output may come after that.
  child.on('close', (code, signal) =>
    reports.ended(new SideEnded(`the process of ${name} ended with ${signal ?? code}${causeIn(said)}`)),
  )
  let watch: NodeJS.Timeout | undefined
  const look = (): void => {
    const usedMb = residentMb(child.pid)
    if (usedMb <= memoryMb) return
    clearInterval(watch)
    reports.ended(new SideEnded(`the process of ${name} took ${usedMb} MB; at most ${memoryMb} are allowed`))
  }
  return {
    // A message that cannot be sent to an ending process is reported by its end, with the cause.
    post: (message) => void child.send(message, () => {}),
    end: () => {
      clearInterval(watch)
      return ended(child)
    },
    ref() {
      watch ??= setInterval(look, WATCH_MS)
      for (const part of [child, child.channel]) part?.ref()
    },
    unref() {
      clearInterval(watch)
      watch = undefined
      for (const part of [child, child.channel]) part?.unref()
    },
  }
}

function passedOn(): Record<string, string> {
  return Object.fromEntries(
    PASSED_ON.flatMap((name) => {
      const value = process.env[name]
      return value === undefined ? [] : [[name, value]]
    }),
  )
}

/** Callers are answered first, and the kernel ends this process before any other of the node. */
function giveWay(pid: number | undefined): void {
  if (pid === undefined) return
  try {
    setPriority(pid, constants.priority.PRIORITY_BELOW_NORMAL)
    if (process.platform === 'linux') writeFileSync(`/proc/${pid}/oom_score_adj`, '1000')
  } catch {
    // It has already ended, which is reported, or the system does not allow the change: it then runs like any other.
  }
}

/** 0 where it is unknown: outside Linux, and for a process that has ended. */
function residentMb(pid: number | undefined): number {
  if (process.platform !== 'linux') return 0
  try {
    const [, kilobytes] = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
    return Math.ceil(Number(kilobytes ?? 0) / 1024)
  } catch {
    return 0
  }
}

/** The line that gives the cause, from the pages that V8 writes. */
function causeIn(said: string): string {
  const line = /^.*\b(?:FATAL ERROR|\w*Error): .*$/m.exec(said)?.[0]
  return line === undefined ? '' : `: ${line.trim().slice(0, 300)}`
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return
  const { promise, resolve } = Promise.withResolvers<void>()
  child.once('exit', () => resolve())
  child.ref()
  child.kill('SIGKILL')
  await promise
}
