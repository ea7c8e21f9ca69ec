/** The loop of every sender: it takes what is due and sends it, several at once. */
import { everyMs, type Repeat, type Repetition } from './every.ts'

export interface SendingParts<Due> {
  /** Takes what is due, at most `room`. */
  readonly due: (room: number) => Promise<readonly Due[]>
  /** Rejects never. */
  readonly send: (due: Due) => Promise<void>
  /** `POLL_MS` unless given. */
  readonly pollMs?: number | undefined
  /** When it looks for something due. Every `pollMs` unless given. */
  readonly repeat?: Repeat | undefined
}

/** Concurrent sends. Each may take its whole timeout, and all of them stay well within the time that the node holds them. */
const AT_ONCE = 16
const POLL_MS = 1000
/** Waits of a failing receiver between tries; the last one is repeated. */
const RETRY_MS = [5000, 15_000, 60_000, 120_000, 300_000, 600_000] as const

/** The wait of a receiver that is never given up. `failures`: those in a row before this one. */
export function retryMsAfter(failures: number): number {
  return RETRY_MS[Math.min(failures, RETRY_MS.length - 1)] ?? 0
}

export class Sending<Due> {
  readonly #parts: SendingParts<Due>
  #isStopped = false

  constructor(parts: SendingParts<Due>) {
    this.#parts = parts
  }

  /** `others` stop with it. */
  start(trouble: (error: unknown) => void, others: readonly Repetition[]): Repetition {
    const { pollMs = POLL_MS, repeat = everyMs(pollMs) } = this.#parts
    const repeating = [repeat(() => this.sendDue(), trouble), ...others]
    return {
      stop: async () => {
        this.#isStopped = true
        await Promise.all(repeating.map((one) => one.stop()))
      },
    }
  }

  /**
   * Sends everything that is due now, and what becomes due until the last one has ended: a hanging receiver
   * holds up its own, and no other.
   */
  async sendDue(): Promise<void> {
    const { due, send, pollMs = POLL_MS } = this.#parts
    const underWay = new Set<Promise<void>>()
    try {
      while (!this.#isStopped) {
        const room = AT_ONCE - underWay.size
        const taken = room > 0 ? await due(room) : []
        for (const one of taken) {
          const sending = send(one).finally(() => underWay.delete(sending))
          underWay.add(sending)
        }
        if (underWay.size === 0) return
        await Promise.race([...underWay, ...(room > taken.length ? [pause(pollMs)] : [])])
      }
    } finally {
      await Promise.all(underWay)
    }
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => void setTimeout(resolve, ms).unref())
}
