/** Load in two forms, open and closed loop, and one histogram of how long answers took. */
import { Socket } from 'node:net'
import { createHistogram, type RecordableHistogram } from 'node:perf_hooks'
import { setTimeout as wait } from 'node:timers/promises'

/** Small against the time of an answer, large against the cost of a timer. */
const TICK_MS = 1
/** Digits that the histogram keeps: the error of a percentile is below a thousandth of a percent. */
const FIGURES = 5

export interface OpenLoop {
  readonly perSecond: number
  /** Ends the sending; what is in progress is the caller's. */
  readonly signal: AbortSignal
}

/** Sends at a rate, whether or not earlier requests were answered: callers do not slow down because a gateway does. */
export async function openLoop({ perSecond, signal }: OpenLoop, send: () => void): Promise<void> {
  const startedMs = performance.now()
  for (let sent = 0; !signal.aborted; await wait(TICK_MS)) {
    const due = ((performance.now() - startedMs) / 1000) * perSecond
    for (; sent < due && !signal.aborted; sent += 1) send()
  }
}

export interface ClosedLoop {
  readonly clients: number
  readonly signal: AbortSignal
  /** Between an answer and the next request, evenly from 0 to twice as long. */
  readonly pauseMs?: number
}

/** Clients that ask again once they have an answer. Resolves when the last answer has come. */
export async function closedLoop(
  { clients, signal, pauseMs = 0 }: ClosedLoop,
  ask: () => Promise<void>,
): Promise<void> {
  const client = async (): Promise<void> => {
    while (!signal.aborted) {
      await ask()
      if (pauseMs > 0)
        await wait(Math.random() * 2 * pauseMs, undefined, { signal }).catch(() => {
          // The end of the load is the end of the pause.
        })
    }
  }
  await Promise.all(Array.from({ length: clients }, client))
}

/** How long answers took. */
/** The order to stop that `scriptOn` gives. A process whose input stays open still ends. */
export function inputClosed(): AbortSignal {
  const closed = new AbortController()
  process.stdin.once('end', () => closed.abort()).resume()
  if (process.stdin instanceof Socket) process.stdin.unref()
  return closed.signal
}

export class Latencies {
  readonly #microseconds: RecordableHistogram = createHistogram({ figures: FIGURES })

  static of(tookMs: readonly number[]): Latencies {
    const latencies = new Latencies()
    for (const ms of tookMs) latencies.record(ms)
    return latencies
  }

  record(tookMs: number): void {
    this.#microseconds.record(Math.max(1, Math.round(tookMs * 1000)))
  }

  /** `share` from 0 to 1. NaN without any. The histogram itself rounds ranks to the nearest: asked for a whole rank, it answers that one. */
  atMs(share: number): number {
    const { count } = this.#microseconds
    const rank = Math.max(1, Math.ceil(count * share))
    return count === 0 ? Number.NaN : this.#microseconds.percentile((rank / count) * 100) / 1000
  }

  get slowestMs(): number {
    return this.#microseconds.count === 0 ? 0 : this.#microseconds.max / 1000
  }

  reset(): void {
    this.#microseconds.reset()
  }
}
