/**
 * Circuit breakers of this node, one per model of a batch: while one is open, no chunk of the batch sends lines to the
 * model, except one attempt after each pause. A pause therefore costs one request, however many chunks the node works on.
 */
import { BoundedMap } from '../structure/bounded-map.ts'
import type { Fault } from '../fault/fault.ts'
import { pauseAfter } from './policy.ts'

/** Open circuits remembered: some for each batch that may be open. The oldest is dropped, which costs an attempt. */
const MAX_OPEN = 10_000

interface OpenCircuit {
  readonly fault: Fault
  readonly pauseMs: number
  readonly untilMs: number
  /** The one attempt after the pause is in progress. */
  readonly isTried: boolean
}

export class Circuits {
  readonly #open = new BoundedMap<string, OpenCircuit>(MAX_OPEN)

  /**
   * `go`: the circuit is closed. `probe`: this is the attempt after a pause. A fault: lines wait because of it. `isDue`:
   * the pause of the batch is over, whatever this node knows of it.
   */
  enter(name: string, nowMs: number, isDue = false): 'go' | 'probe' | Fault {
    const open = this.#open.get(name)
    if (open === undefined) return 'go'
    if (open.isTried || (nowMs < open.untilMs && !isDue)) return open.fault
    this.#open.set(name, { ...open, isTried: true })
    return 'probe'
  }

  /** Returns how long the lines wait. */
  failed(name: string, fault: Fault, nowMs: number): number {
    const open = this.#open.get(name)
    // Calls that were in progress when the circuit opened say nothing new.
    if (open !== undefined && !open.isTried && nowMs < open.untilMs) return open.untilMs - nowMs
    const pauseMs = pauseAfter(fault, open?.pauseMs)
    this.#open.set(name, { fault, pauseMs, untilMs: nowMs + pauseMs, isTried: false })
    return pauseMs
  }

  /** How long lines still wait behind an open circuit, at least the shortest pause. */
  waitMs(name: string, nowMs: number): number {
    const { fault, untilMs } = this.#open.get(name) ?? {}
    return fault === undefined ? 0 : Math.max((untilMs ?? 0) - nowMs, pauseAfter(fault))
  }

  succeeded(name: string): void {
    this.#open.delete(name)
  }

  /** The attempt after a pause ended without a result, because its node stops. */
  left(name: string): void {
    const open = this.#open.get(name)
    if (open?.isTried) this.#open.set(name, { ...open, isTried: false })
  }
}
