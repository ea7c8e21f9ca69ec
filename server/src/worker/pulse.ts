/**
 * Wakes workers. Each heartbeat of the node says in which places of the store work waits, so that no worker has to ask for itself:
 * an idle node asks one question, and not one per feature. When heartbeats fail or are late, workers ask by themselves.
 */
import type { WaitingWork } from '#ports/ledger.ts'
import type { Repeat } from './every.ts'

/** Interval of heartbeats. A revoked key is refused within two seconds: this pause, and the reading of the change. */
export const PULSE_MS = 1500
/** Age at which what a heartbeat said counts no longer. */
const STALE_MS = 2 * PULSE_MS

type Topic = keyof WaitingWork
/** Topics of which a heartbeat says yes or no. */
type Flag = { [Name in Topic]: WaitingWork[Name] extends boolean ? Name : never }[Topic]

interface PulseParts {
  readonly monotonicMs: () => number
  /** Calls `ring` after `ms`, unless the returned function cancels it. */
  readonly after: (ms: number, ring: () => void) => () => void
}

export class Pulse {
  readonly #parts: PulseParts
  #work: WaitingWork | undefined
  #atMs = -Infinity
  /** Counts heartbeats and what this process raised, so that nothing that comes during a run is missed. */
  #count = 0
  readonly #waiting = new Set<() => void>()

  constructor(parts: PulseParts) {
    this.#parts = parts
  }

  /** A heartbeat that was sent at `askedMs` has answered: the answer is as old as the question. */
  beat(work: WaitingWork | undefined, askedMs: number): void {
    this.#work = work
    this.#atMs = askedMs
    this.#wake()
  }

  /** A heartbeat has failed. */
  missed(): void {
    this.#work = undefined
    this.#wake()
  }

  /** This process has made work of its own: its worker does not wait for a heartbeat. */
  raise(topic: Flag): void {
    if (this.#work !== undefined) this.#work = { ...this.#work, [topic]: true }
    this.#wake()
  }

  /** The last heartbeat's answer about a topic. Undefined: the answer is too old, or the store gave none. */
  said<Name extends Topic>(topic: Name): WaitingWork[Name] | undefined {
    return this.#parts.monotonicMs() - this.#atMs < STALE_MS ? this.#work?.[topic] : undefined
  }

  /** True unless the last heartbeat said that no work waits. */
  may(topic: Flag): boolean {
    return this.said(topic) !== false
  }

  /** Runs work after each heartbeat that says that there is some, or that its place has changed since the last good run. */
  on(topic: Topic): Repeat {
    let done: string | undefined
    return this.#repeat(async (work) => {
      const said = this.said(topic)
      if (said === false || (said !== undefined && said === done)) return
      await work()
      done = typeof said === 'string' ? said : undefined
    })
  }

  /** Runs work after every heartbeat. */
  get always(): Repeat {
    return this.#repeat((work) => work())
  }

  #repeat(run: (work: () => Promise<void>) => Promise<void>): Repeat {
    return (work, onError) => {
      let isStopped = false
      let leave = (): void => {}
      const loop = async (): Promise<void> => {
        let seen = this.#count
        for (;;) {
          if (!isStopped && seen === this.#count) await this.#next((stop) => (leave = stop))
          if (isStopped) return
          seen = this.#count
          try {
            await run(work)
          } catch (error) {
            onError(error)
          }
        }
      }
      const running = loop()
      return {
        async stop() {
          isStopped = true
          leave()
          await running
        },
      }
    }
  }

  /** Resolves at the next heartbeat, and when it is late. `leaveBy` gets what ends the wait. */
  #next(leaveBy: (leave: () => void) => void): Promise<void> {
    return new Promise((resolve) => {
      const go = (): void => {
        cancel()
        this.#waiting.delete(go)
        resolve()
      }
      const cancel = this.#parts.after(STALE_MS, go)
      this.#waiting.add(go)
      leaveBy(go)
    })
  }

  #wake(): void {
    this.#count += 1
    for (const go of this.#waiting) go()
  }
}
