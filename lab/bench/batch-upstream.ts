/**
 * An upstream for benches of batches: it makes the same vector of every text, and only its time is real. A call takes
 * `callMs` and `inputMs` for each of its texts, and up to `parallel` calls run at once: further ones queue, first come,
 * first served. Without times it costs next to nothing. `GET /counters` returns its counters since the last call.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { setTimeout as wait } from 'node:timers/promises'
import { buffer } from 'node:stream/consumers'

export interface UpstreamPlan {
  readonly port: number
  readonly width: number
  readonly parallel: number
  readonly callMs: number
  readonly inputMs: number
}

/** By kind of call: those with one text are the interactive ones. */
export interface UpstreamCounters {
  readonly calls: number
  readonly inputs: number
  /** Time of the work itself, without the queue. */
  readonly busyMs: number
  readonly seconds: number
}

const plan = JSON.parse(process.argv[2] ?? '{}') as UpstreamPlan
const values = Float32Array.from({ length: plan.width }, (_, index) => Math.sin(index * 12.9898) * 0.0361)
const embedding = new Uint8Array(values.buffer).toBase64()
/** Answers by their number of texts: making them would cost more than all the rest. */
const answers = new Map<number, Buffer>()
const MAX_ANSWERS = 64

const waiting: (() => void)[] = []
let working = 0
let counted = { calls: 0, inputs: 0, busyMs: 0 }
let single = { calls: 0, inputs: 0, busyMs: 0 }
let sinceMs = performance.now()

createServer((request, response) => void answer(request, response)).listen(plan.port, '127.0.0.1')

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  if (request.method === 'GET') {
    const seconds = (performance.now() - sinceMs) / 1000
    response.end(JSON.stringify({ several: { ...counted, seconds }, single: { ...single, seconds } }))
    if (request.url === '/counters') {
      counted = { calls: 0, inputs: 0, busyMs: 0 }
      single = { calls: 0, inputs: 0, busyMs: 0 }
      sinceMs = performance.now()
    }
    return
  }
  const { input } = JSON.parse((await buffer(request)).toString()) as { input: string | readonly string[] }
  const inputs = typeof input === 'string' ? 1 : input.length
  const tookMs = plan.callMs + plan.inputMs * inputs
  if (tookMs > 0) await worked(tookMs)
  const counters = inputs === 1 ? single : counted
  counters.calls += 1
  counters.inputs += inputs
  counters.busyMs += tookMs
  response.writeHead(200, { 'content-type': 'application/json' }).end(answerFor(inputs))
}

async function worked(forMs: number): Promise<void> {
  if (working >= plan.parallel) await new Promise<void>((resolve) => waiting.push(resolve))
  else working += 1
  await wait(forMs)
  const next = waiting.shift()
  if (next === undefined) working -= 1
  else next()
}

function answerFor(inputs: number): Buffer {
  const known = answers.get(inputs)
  if (known !== undefined) return known
  const items = Array.from(
    { length: inputs },
    (_, index) => `{"object":"embedding","index":${index},"embedding":"${embedding}"}`,
  )
  const tokens = inputs * 8
  const text = `{"object":"list","data":[${items.join(',')}],"model":"bench","usage":{"prompt_tokens":${tokens},"total_tokens":${tokens}}}`
  const made = Buffer.from(text)
  if (answers.size >= MAX_ANSWERS) answers.clear()
  answers.set(inputs, made)
  return made
}
