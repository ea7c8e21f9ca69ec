/** Two nodes that are killed at random, and callers that remember every answer. */
import { randomInt } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { BatchCaller } from '../../../server/test/support/batches.ts'
import { askAt, startNodeProcess, type NodeProcess } from '../../../server/test/support/cluster.ts'
import { ADMIN_TOKEN } from '../../../server/test/support/control.ts'
import { GATEWAY_KEY, type Asked, type GatewayOptions } from '../../../server/test/support/gateway.ts'
import { temporaryFolder } from '../../../server/test/support/process.ts'
import { vectorOf } from '../../fake-provider/vectors.ts'

const WIDTH = 32

/** A model, and the upstream of it that changes. */
export interface Subject {
  readonly model: string
  readonly turning: string
}

/** The calls of one have many texts, those of the other one each. */
export const SUBJECTS: readonly [Subject, Subject] = [
  { model: 'many-w32', turning: 'turning-many' },
  { model: 'single-w32', turning: 'turning-one' },
]

const OPTIONS: GatewayOptions = {
  models: Object.fromEntries(
    SUBJECTS.map(({ model, turning }, index) => [
      model,
      {
        on: [`mode-${turning}`, `mode-steady-${index}`],
        spaceGuard: true,
        cache: { ttl: '1h' },
        ...(index === 1 && { capabilities: { maxInputs: 1 } }),
      },
    ]),
  ),
  env: { TORANA_ADMIN_TOKEN: ADMIN_TOKEN },
}

/** What a caller remembers of one request. */
export interface Remembered {
  /** Undefined: there was no whole answer. */
  readonly requestId: string | undefined
  readonly status: number | undefined
  readonly texts: readonly string[]
  readonly hasNew: boolean
  readonly isHit: boolean
  /** The process that answered. */
  readonly node: number
  readonly sentMs: number
  readonly endedMs: number
}

export class Nodes {
  readonly kills: number[] = []
  readonly #env: Readonly<Record<string, string>>
  readonly #providerUrl: string
  #nodes: NodeProcess[] = []
  #starting: Promise<void> = Promise.resolve()

  constructor(providerUrl: string, databaseUrl: string) {
    this.#providerUrl = providerUrl
    this.#env = { DATABASE_URL: databaseUrl, ASSETS_URL: `file://${temporaryFolder()}` }
  }

  async start(count: number): Promise<void> {
    this.#nodes = await Promise.all(Array.from({ length: count }, () => this.#start()))
  }

  #start(folder?: string): Promise<NodeProcess> {
    return startNodeProcess(OPTIONS, this.#providerUrl, {
      env: this.#env,
      ...(folder !== undefined && { folder }),
    })
  }

  any(): NodeProcess {
    return this.#nodes[randomInt(this.#nodes.length)] as NodeProcess
  }

  /** Kills one; it starts again in the background. */
  kill(): void {
    const place = randomInt(this.#nodes.length)
    this.#starting = this.#starting.then(async () => {
      const victim = this.#nodes[place] as NodeProcess
      this.kills.push(Date.now())
      victim.child.kill('SIGKILL')
      await victim.exit
      this.#nodes[place] = await this.#start(victim.folder)
    })
  }

  /** Resolves when all are up. */
  up(): Promise<void> {
    return this.#starting
  }

  async stop(): Promise<void> {
    await this.#starting
    for (const { child } of this.#nodes) child.kill('SIGKILL')
    await Promise.all(this.#nodes.map(({ exit }) => exit))
  }

  batches(): BatchCaller {
    return new BatchCaller(this.any().url)
  }

  /** Repeats what a kill has interrupted. */
  async control<Body>(method: string, path: string): Promise<Body> {
    return this.again(async () => {
      const answer = await fetch(`${this.any().controlUrl}/api/v1${path}`, {
        method,
        headers: { authorization: `Bearer ${ADMIN_TOKEN}` },
      })
      const text = await answer.text()
      if (!answer.ok) throw new Error(text)
      return JSON.parse(text) as Body
    })
  }

  async again<Value>(work: () => Promise<Value>): Promise<Value> {
    const endMs = Date.now() + PATIENCE_MS
    for (;;)
      try {
        return await work()
      } catch (error) {
        if (Date.now() > endMs) throw error
        await wait(200)
      }
  }
}

/** A start on a busy machine, and the time until a dead node's work is taken over. */
const PATIENCE_MS = 120_000

/** Callers without pause, until they are stopped. */
export function beginTraffic(nodes: Nodes, model: string, callers: number, run: string) {
  const over = new AbortController()
  const all: Remembered[] = []
  const call = async (caller: number): Promise<void> => {
    for (let count = 0; !over.signal.aborted; count += 1) {
      const isShared = randomInt(4) === 0
      const texts = isShared
        ? [`${run} shared ${randomInt(12)}`]
        : Array.from({ length: randomInt(1, 4) }, (_, index) => `${run} ${caller} ${count} ${index}`)
      const { url, child } = nodes.any()
      const node = child.pid ?? 0
      const sentMs = Date.now()
      const answer = await askAt(url, { model, input: texts }, { key: GATEWAY_KEY }).catch(() => undefined)
      all.push({ ...remembered(answer, texts), texts, node, sentMs, endedMs: Date.now() })
      await wait(answer === undefined ? 100 : randomInt(5, 40))
    }
  }
  const calls = Array.from({ length: callers }, (_, caller) => call(caller))
  return {
    all,
    stop: async () => {
      over.abort()
      await Promise.all(calls)
    },
  }
}

function remembered(
  answer: Asked | undefined,
  texts: readonly string[],
): Pick<Remembered, 'requestId' | 'status' | 'hasNew' | 'isHit'> {
  const requestId = answer?.headers.get('x-request-id') ?? undefined
  const isHit = answer?.headers.get('x-torana-deployment')?.includes('cache') === true
  const hasNew =
    answer?.status === 200 &&
    texts.some((text, index) => isNew(text, answer.body.data[index]?.embedding as number[]))
  return { requestId, status: answer?.status, hasNew, isHit }
}

/** Whether a vector is of the space to which the upstream changed. Anything else than the two is a defect of the lab. */
export function isNew(text: string, vector: Iterable<number>): boolean {
  const values = Float32Array.from(vector)
  const equals = (other: Float32Array): boolean =>
    other.every((value, at) => Math.abs(value - (values[at] ?? 0)) < 1e-6)
  if (equals(vectorOf(text, WIDTH))) return false
  if (equals(vectorOf(`other model: ${text}`, WIDTH))) return true
  throw new Error(`a vector of '${text}' is of no known space`)
}
