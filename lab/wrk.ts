/** wrk, a closed loop in C: for published figures, where the sender must cost next to nothing. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

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

/** The first requests of a cold process, or on a busy machine, take seconds. */
const TIMEOUT_SECONDS = 10
/** A shared machine may pause for seconds, and a cold process warms up; a gateway that is silent in this many looks is broken. */
const MAX_SILENT_LOOKS = 5

/** Repeats a look in which no request was answered. */
export async function wrk(options: WrkOptions): Promise<Load> {
  for (let silent = 1; ; silent += 1)
    try {
      return await look(options)
    } catch (error) {
      if (!(error instanceof NothingAnswered) || silent === MAX_SILENT_LOOKS) throw error
    }
}

async function look({
  url,
  script,
  connections,
  seconds,
  core,
  timeoutSeconds = TIMEOUT_SECONDS,
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

/** What a script asks for. Every text is different. */
export interface Asking {
  /** One key, or the number of those of `benchKey`, which take turns. */
  readonly key: string | number
  /** One model, or the number of `model-0` and so on, which take turns. */
  readonly model: string | number
  /** `image`: a prompt instead of a text. */
  readonly answer?: 'base64' | 'float' | 'image'
  /** How long each connection waits on average before it asks again. */
  readonly pauseMs?: number
}

/** The secret of a key by its number. */
export function benchKey(index: number): string {
  return `bench-key-${String(index).padStart(20, '0')}`
}

let scripts = 0

/** The file of a new script in the folder. */
export function loadScript(folder: string, asking: Asking): string {
  const { key, model, answer = 'base64', pauseMs = 0 } = asking
  const file = join(folder, `load-${(scripts += 1)}.lua`)
  const secret =
    typeof key === 'string' ? `"${key}"` : `string.format("bench-key-%020d", (n * 7919) % ${key})`
  const id = typeof model === 'string' ? model : `model-' .. (n % ${model}) .. '`
  const text = `"the quick brown fox ' .. seed .. n .. '"`
  const fields = answer === 'image' ? `"prompt":${text}` : `"input":${text},"encoding_format":"${answer}"`
  writeFileSync(
    file,
    `${pauseMs > 0 ? `delay = function() return math.random(0, ${Math.round(2 * pauseMs)}) end` : ''}
local n = 0
local headers = { ["Content-Type"] = "application/json" }
local seed = tostring({}):sub(8)
request = function()
  n = n + 1
  headers["Authorization"] = "Bearer " .. ${secret}
  return wrk.format("POST", nil, headers, '{${fields},"model":"${id}"}')
end
`,
  )
  return file
}

function durationMs(text: string): number {
  const unit = text.replace(/[\d.]+/, '')
  const scale = { us: 0.001, ms: 1, s: 1000, m: 60_000 }[unit] ?? Number.NaN
  return Number.parseFloat(text) * scale
}
