/**
 * Small embeddings at a steady rate, whether or not earlier ones were answered, until its input ends. The same number goes
 * to the upstream directly: their slowdown under load is the machine's part.
 */
import { once } from 'node:events'
import { Agent, request, type IncomingMessage } from 'node:http'
import { text } from 'node:stream/consumers'
import { setTimeout as wait } from 'node:timers/promises'

export interface Steady {
  readonly gatewayUrl: string
  readonly directUrl: string
  readonly key: string
  readonly model: string
  readonly perSecond: number
}

export interface Timed {
  /** When it was asked, in milliseconds since 1970. */
  readonly atMs: number
  readonly tookMs: number
  readonly isAnswered: boolean
}

export interface Steadied {
  readonly gateway: readonly Timed[]
  readonly direct: readonly Timed[]
}

class Asking {
  readonly #agent = new Agent({ keepAlive: true })
  readonly #url: string
  readonly #key: string
  readonly #model: string
  readonly #underWay: Promise<Timed>[] = []

  constructor(url: string, key: string, model: string) {
    this.#url = url
    this.#key = key
    this.#model = model
  }

  ask(number: number): void {
    this.#underWay.push(this.#timed(number))
  }

  async all(): Promise<Timed[]> {
    const timed = await Promise.all(this.#underWay)
    this.#agent.destroy()
    return timed
  }

  async #timed(number: number): Promise<Timed> {
    const atMs = Date.now()
    const startedMs = performance.now()
    const isAnswered = await this.#answered(number).catch(() => false)
    return { atMs, tookMs: performance.now() - startedMs, isAnswered }
  }

  async #answered(number: number): Promise<boolean> {
    const call = request(`${this.#url}/v1/embeddings`, {
      method: 'POST',
      agent: this.#agent,
      headers: { authorization: `Bearer ${this.#key}`, 'content-type': 'application/json' },
    })
    call.end(JSON.stringify({ model: this.#model, input: `text ${number}`, encoding_format: 'base64' }))
    const [answer] = (await once(call, 'response')) as [IncomingMessage]
    await text(answer)
    return answer.statusCode === 200
  }
}

if (import.meta.main) {
  const { gatewayUrl, directUrl, key, model, perSecond } = JSON.parse(process.argv[2] ?? '') as Steady
  const over = new AbortController()
  process.stdin.resume().once('end', () => over.abort())
  const gateway = new Asking(gatewayUrl, key, model)
  const direct = new Asking(directUrl, key, model)
  const startedMs = performance.now()
  for (let number = 0; !over.signal.aborted; number += 1) {
    gateway.ask(number)
    direct.ask(number)
    await wait(Math.max(0, startedMs + ((number + 1) * 1000) / perSecond - performance.now()))
  }
  const answer: Steadied = { gateway: await gateway.all(), direct: await direct.all() }
  process.stdout.write(JSON.stringify(answer))
}
