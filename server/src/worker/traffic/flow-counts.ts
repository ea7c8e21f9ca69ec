/** The flow from keys through models to deployments in the last ten seconds. Added to on the hot lane: numbers only. */
import { joined, type Flow } from '#core/traffic/node-summary.ts'
import { outcomeOf } from '#core/request/request-outcome.ts'
import type { RequestRecord } from '#ports/observer.ts'

/** Long enough that the drawing does not flicker, short enough that a failure shows immediately. */
const SECONDS = 10
/** Paths remembered per second. Far more than a person looks at; the others of that second are not shown. */
const MAX_PATHS = 2000
/** Durations kept per path and second: enough for a 95th percentile. */
const MAX_DURATIONS = 100

interface Counted {
  readonly project: string
  readonly key: string
  readonly model: string
  readonly deployment: string | undefined
  requests: number
  failed: number
  tokens: number
  images: number
  nanoUsd: bigint
  readonly durationsMs: number[]
  /** Another model or deployment of the same key. */
  next: Counted | undefined
}

interface Second {
  /** By key, which mostly asks one model: a joined name, or maps in maps, would be built for every request. */
  readonly ways: Map<string, Counted>
  size: number
}

export class FlowCounts {
  readonly #seconds: Second[] = Array.from({ length: SECONDS }, newSecond)
  #now = 0

  requestEnded(record: RequestRecord): void {
    const { keyId, model, project, key } = record
    if (keyId === undefined || model === undefined || project === undefined || key === undefined) return
    // It was refused before any call: nothing flowed.
    if (record.deployment === undefined) return
    const second = this.#seconds[this.#now] as Second
    let counted = second.ways.get(keyId)
    let last: Counted | undefined
    while (counted !== undefined && (counted.model !== model || counted.deployment !== record.deployment)) {
      last = counted
      counted = counted.next
    }
    if (counted === undefined) {
      if (second.size >= MAX_PATHS) return
      second.size += 1
      counted = {
        project,
        key,
        model,
        deployment: record.deployment,
        requests: 0,
        failed: 0,
        tokens: 0,
        images: 0,
        nanoUsd: 0n,
        // Room for one: with many keys nearly every path has one request a second, and pushing to an empty list makes room for seventeen.
        durationsMs: [record.durationMs],
        next: undefined,
      }
      if (last === undefined) second.ways.set(keyId, counted)
      else last.next = counted
    } else if (counted.durationsMs.length < MAX_DURATIONS) counted.durationsMs.push(record.durationMs)
    counted.requests += 1
    if (record.status >= 429 && outcomeOf(record.status, record.fault) === 'failed') counted.failed += 1
    counted.tokens += record.promptTokens ?? 0
    counted.images += record.trace?.images ?? 0
    if (record.amountNanoUsd !== undefined) counted.nanoUsd += record.amountNanoUsd
  }

  /** Call it once per second. */
  nextSecond(): void {
    this.#now = (this.#now + 1) % SECONDS
    this.#seconds[this.#now] = newSecond()
  }

  flows(): readonly Flow[] {
    const all: Flow[] = []
    for (const { ways } of this.#seconds)
      for (const first of ways.values())
        for (let counted: Counted | undefined = first; counted !== undefined; counted = counted.next)
          all.push(flowOf(counted))
    return joined(all)
  }
}

/** Of several that served parts, the first. null when all of it came from the cache. */
function firstOf(deployments: string | undefined): string | null {
  return deployments?.split(',').find((one) => one !== '' && one !== 'cache') ?? null
}

function newSecond(): Second {
  return { ways: new Map(), size: 0 }
}

function flowOf(counted: Counted): Flow {
  const { project, key, model, deployment, requests, failed, tokens, images, nanoUsd } = counted
  const durationsMs = counted.durationsMs.sort((a, b) => a - b)
  return {
    project,
    key: `${project}/${key}`,
    model,
    deployment: firstOf(deployment),
    requests: requests / SECONDS,
    failed: failed / SECONDS,
    tokens: tokens / SECONDS,
    images: images / SECONDS,
    nanoUsd: String(nanoUsd / BigInt(SECONDS)),
    p95Ms: durationsMs[Math.ceil(durationsMs.length * 0.95) - 1] ?? null,
  }
}
