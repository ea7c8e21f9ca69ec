/** How the calls to one deployment went in the last 15 minutes, and in the current slot of history. */
import { latencyClassOf, LatencyCounts, type SparseCounts } from '#core/traffic/latency-counts.ts'
import type { CallRecord } from '#ports/observer.ts'

const MINUTES = 15
const SECONDS = 10
/** A justified refusal says nothing about the upstream. */
const CALLERS_FAULTS: ReadonlySet<string> = new Set(['ok', 'refused', 'contentRefused'])

class Calls {
  calls = 0
  failed = 0
  readonly failures = new Map<string, number>()
  readonly latency = new LatencyCounts()

  add({ outcome }: CallRecord, latencyClass: number): void {
    this.calls += 1
    this.latency.addIn(latencyClass)
    if (outcome === 'ok') return
    this.failures.set(outcome, (this.failures.get(outcome) ?? 0) + 1)
    if (!CALLERS_FAULTS.has(outcome)) this.failed += 1
  }

  clear(): void {
    this.calls = 0
    this.failed = 0
    this.failures.clear()
    this.latency.clear()
  }
}

/** The figures of a period. */
export interface CallFigures {
  readonly calls: number
  readonly failed: number
  readonly failures: Readonly<Record<string, number>>
  readonly latency: SparseCounts
}

export class CallCounts {
  readonly #minutes = Array.from({ length: MINUTES }, () => new Calls())
  readonly #seconds = new Float64Array(SECONDS)
  #minute = 0
  #second = 0
  /** Since the slot began. */
  readonly #slot = new Calls()
  /** The reason of the last failed call, in our words. */
  lastFailure: string | undefined

  add(record: CallRecord): void {
    const minute = this.#minutes[this.#minute] as Calls
    const latencyClass = latencyClassOf(record.durationMs)
    minute.add(record, latencyClass)
    this.#slot.add(record, latencyClass)
    this.#seconds[this.#second] = (this.#seconds[this.#second] as number) + 1
    if (!CALLERS_FAULTS.has(record.outcome)) this.lastFailure = record.reason ?? record.outcome
  }

  nextSecond(): void {
    this.#second = (this.#second + 1) % SECONDS
    this.#seconds[this.#second] = 0
  }

  nextMinute(): void {
    this.#minute = (this.#minute + 1) % MINUTES
    ;(this.#minutes[this.#minute] as Calls).clear()
  }

  /** Calls per second, as the mean of the last ten seconds. */
  get rate(): number {
    return this.#seconds.reduce((sum, one) => sum + one, 0) / SECONDS
  }

  get lately(): CallFigures {
    return figuresOf(this.#minutes)
  }

  get slot(): CallFigures {
    return figuresOf([this.#slot])
  }

  nextSlot(): void {
    this.#slot.clear()
  }
}

function figuresOf(parts: readonly Calls[]): CallFigures {
  const failures: Record<string, number> = {}
  const latency = new LatencyCounts()
  let [calls, failed] = [0, 0]
  for (const part of parts) {
    if (part.calls === 0) continue
    calls += part.calls
    failed += part.failed
    latency.addAll(part.latency.sparse())
    for (const [kind, count] of part.failures) failures[kind] = (failures[kind] ?? 0) + count
  }
  return { calls, failed, failures, latency: latency.sparse() }
}
