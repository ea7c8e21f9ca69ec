import { setTimeout as delay } from 'node:timers/promises'
import type { Scenario } from './traits.ts'
import { Refusal } from './wire.ts'

/** The size of a server: concurrent calls, the time of each, and the length of its queue. */
export type Size = { slots: number; serviceMs: number; maxWaiting: number }

export type Turn = { startMs: number; endMs: number }

/**
 * One server of limited size, first come, first served. Begin and end of every call are fixed on its arrival, so
 * a late timer delays one answer and never the calls behind it: the rate is exactly `slots` ÷ `serviceMs`.
 */
export class Gate {
  /** When each slot is free again, in no order. */
  #freeAtMs: number[] = []
  /** When each waiting call will begin: never falls, since calls begin in the order of their arrival. */
  readonly #startsMs: number[] = []

  /** The turn of a call that arrives now; null when too many wait already. */
  enter(nowMs: number, { slots, serviceMs, maxWaiting }: Size): Turn | null {
    while ((this.#startsMs[0] ?? Infinity) <= nowMs) this.#startsMs.shift()
    this.#resize(slots)
    const slot = this.#earliest()
    const startMs = Math.max(nowMs, this.#startsMs.at(-1) ?? 0, this.#freeAtMs[slot] ?? 0)
    const waits = startMs > nowMs
    if (waits && this.#startsMs.length >= maxWaiting) return null
    if (waits) this.#startsMs.push(startMs)
    const endMs = startMs + serviceMs
    this.#freeAtMs[slot] = endMs
    return { startMs, endMs }
  }

  #earliest(): number {
    let earliest = 0
    for (let slot = 1; slot < this.#freeAtMs.length; slot++) {
      if ((this.#freeAtMs[slot] ?? 0) < (this.#freeAtMs[earliest] ?? 0)) earliest = slot
    }
    return earliest
  }

  /** A smaller server loses its idle slots first: what is under way is finished. */
  #resize(slots: number): void {
    while (this.#freeAtMs.length < slots) this.#freeAtMs.push(0)
    if (this.#freeAtMs.length > slots) {
      this.#freeAtMs = this.#freeAtMs.toSorted((left, right) => left - right).slice(-slots)
    }
  }
}

/** The gates of all scenarios that have a size: one for each scenario and credential. */
export class Capacity {
  readonly #gates = new Map<string, Gate>()

  /** Resolves when the work is done, to the time it waited before it began; undefined where nothing is limited. */
  async serve(scenario: Scenario, credential: string | null): Promise<number | undefined> {
    const size = sizeOf(scenario)
    if (size === null) return undefined
    const nowMs = performance.now()
    const turn = this.#gateOf(`${scenario.name} ${credential}`).enter(nowMs, size)
    if (turn === null) {
      throw new Refusal(503, `The server is overloaded: ${size.maxWaiting} calls are waiting already.`, {
        code: 'overloaded',
        headers: { 'retry-after': '1' },
      })
    }
    await delay(Math.ceil(turn.endMs - nowMs))
    return Math.round(turn.startMs - nowMs)
  }

  #gateOf(key: string): Gate {
    const gate = this.#gates.get(key) ?? new Gate()
    this.#gates.set(key, gate)
    return gate
  }
}

function sizeOf(scenario: Scenario): Size | null {
  const slots = scenario.amount('capacity-N')
  const serviceMs = scenario.amount('service-N')
  const maxWaiting = scenario.amount('queue-N')
  if (slots === undefined && serviceMs === undefined && maxWaiting === undefined) return null
  if (!slots || !serviceMs) {
    throw new Refusal(404, 'capacity-N and service-N go together, both at least 1; queue-N needs them.')
  }
  return { slots, serviceMs, maxWaiting: maxWaiting ?? Infinity }
}
