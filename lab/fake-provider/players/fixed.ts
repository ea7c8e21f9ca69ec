/**
 * The same vector for every text: an upstream that costs next to nothing, and whose time alone is real. The first part of the
 * path says how: `fixed-w16+call-20+input-2+parallel-4` answers 16 numbers; a call takes 20 ms and 2 ms for each of its texts, and
 * up to 4 calls run at once: further ones queue, first come, first served. `GET …/counters` answers its counters since the last time.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { setTimeout as wait } from 'node:timers/promises'

export interface FixedPlan {
  readonly width: number
  /** Calls at once. */
  readonly parallel: number
  readonly callMs: number
  readonly inputMs: number
}

/** By kind of call: those with one text are the interactive ones. */
export interface FixedCounters {
  readonly calls: number
  readonly inputs: number
  /** Time of the work itself, without the queue. */
  readonly busyMs: number
  readonly seconds: number
}

/** Kept answers, by their number of texts: making one costs more than all the rest. */
const MAX_ANSWERS = 64
/** Plans of one process: each is an upstream of a bench. */
const MAX_PLANS = 64

export function fixedPath({ width, parallel, callMs, inputMs }: FixedPlan): string {
  const isBounded = Number.isFinite(parallel)
  return `fixed-w${width}+call-${callMs}+input-${inputMs}${isBounded ? `+parallel-${parallel}` : ''}`
}

function planOf(words: string): FixedPlan {
  const amount = (name: string): number | undefined => {
    const found = new RegExp(`(?:^|\\+)${name}(\\d+)(?=\\+|$)`).exec(words)?.[1]
    return found === undefined ? undefined : Number(found)
  }
  return {
    width: amount('fixed-w') ?? 16,
    parallel: amount('parallel-') ?? Infinity,
    callMs: amount('call-') ?? 0,
    inputMs: amount('input-') ?? 0,
  }
}

const upstreams = new Map<string, Fixed>()

export function playFixed(request: IncomingMessage, response: ServerResponse, words: string): Promise<void> {
  let upstream = upstreams.get(words)
  if (upstream === undefined) {
    if (upstreams.size >= MAX_PLANS) throw new Error(`more than ${MAX_PLANS} plans`)
    upstreams.set(words, (upstream = new Fixed(planOf(words))))
  }
  return upstream.answer(request, response)
}

class Fixed {
  readonly #plan: FixedPlan
  readonly #embedding: string
  readonly #answers = new Map<number, Buffer>()
  readonly #waiting: (() => void)[] = []
  #working = 0
  #several = { calls: 0, inputs: 0, busyMs: 0 }
  #single = { calls: 0, inputs: 0, busyMs: 0 }
  #sinceMs = performance.now()

  constructor(plan: FixedPlan) {
    this.#plan = plan
    const values = Float32Array.from({ length: plan.width }, (_, index) => Math.sin(index * 12.9898) * 0.0361)
    this.#embedding = new Uint8Array(values.buffer).toBase64()
  }

  async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.method === 'GET') return this.#count(response, request.url?.endsWith('/counters') === true)
    const { input } = JSON.parse((await buffer(request)).toString()) as { input: string | readonly string[] }
    const inputs = typeof input === 'string' ? 1 : input.length
    const tookMs = this.#plan.callMs + this.#plan.inputMs * inputs
    if (tookMs > 0) await this.#work(tookMs)
    const counters = inputs === 1 ? this.#single : this.#several
    counters.calls += 1
    counters.inputs += inputs
    counters.busyMs += tookMs
    const body = this.#answerFor(inputs)
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': body.length }).end(body)
  }

  #count(response: ServerResponse, isReset: boolean): void {
    const seconds = (performance.now() - this.#sinceMs) / 1000
    response.end(
      JSON.stringify({ several: { ...this.#several, seconds }, single: { ...this.#single, seconds } }),
    )
    if (!isReset) return
    this.#several = { calls: 0, inputs: 0, busyMs: 0 }
    this.#single = { calls: 0, inputs: 0, busyMs: 0 }
    this.#sinceMs = performance.now()
  }

  async #work(forMs: number): Promise<void> {
    if (this.#working >= this.#plan.parallel)
      await new Promise<void>((resolve) => this.#waiting.push(resolve))
    else this.#working += 1
    await wait(forMs)
    const next = this.#waiting.shift()
    if (next === undefined) this.#working -= 1
    else next()
  }

  #answerFor(inputs: number): Buffer {
    const known = this.#answers.get(inputs)
    if (known !== undefined) return known
    const items = Array.from(
      { length: inputs },
      (_, index) => `{"object":"embedding","index":${index},"embedding":"${this.#embedding}"}`,
    )
    const tokens = inputs * 8
    const text = `{"object":"list","data":[${items.join(',')}],"model":"bench","usage":{"prompt_tokens":${tokens},"total_tokens":${tokens}}}`
    const made = Buffer.from(text)
    if (this.#answers.size >= MAX_ANSWERS) this.#answers.clear()
    this.#answers.set(inputs, made)
    return made
  }
}
