/** wrk, a closed loop in C: for published figures, where the sender must cost next to nothing. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'

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
