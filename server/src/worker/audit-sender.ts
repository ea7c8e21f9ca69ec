/** Sends the audit to its receivers: to each in the order of the entries, and again until it takes them. */
import type { AuditReceivers, HeldReceiver, ReceiverState, SentEntry } from '#ports/audit-receivers.ts'
import type { Clock } from '#ports/clock.ts'
import { every, type Repetition } from './every.ts'
import { retryMsAfter, Sending } from './sending.ts'

/** A receiver as configured now. */
export interface AuditTarget {
  readonly id: string
  /** Its name for people: without the path of its address, which may be secret. */
  readonly name: string
  readonly timeoutMs: number
  /** Entries that it takes at once. */
  readonly maxEntries: number
  /** Why it took none of the entries. Undefined: it took all. Rejects never. */
  send(entries: readonly SentEntry[]): Promise<string | undefined>
}

export interface AuditSenderParts {
  readonly receivers: AuditReceivers
  readonly targets: () => readonly AuditTarget[]
  readonly clock: Pick<Clock, 'monotonicMs'>
  readonly events: AuditSenderEvents
  readonly pollMs?: number | undefined
}

interface AuditSenderEvents {
  sent(target: AuditTarget, first: bigint, last: bigint): void
  notSent(target: AuditTarget, sequence: bigint, problem: string, retryInMs: number): void
  /** The audit was cut or changed: this receiver gets it again from the first entry. */
  startedOver(target: AuditTarget): void
  /** What each receiver lacks. */
  states(states: readonly ReceiverState[]): void
  /** The store could not be read or written. Entries that were sent and could not be recorded are sent again. */
  trouble(error: unknown): void
}

/** Entries of one hold: what a kill sends twice at most. */
const MAX_ENTRIES = 200
/** Time after which a node records what it has sent, and takes the receiver again. */
const SEND_MS = 10_000
/** Hold beyond the longest try: the reads and writes of the store. */
const SPARE_MS = 10_000
const STATES_MS = 10_000
/** What is kept of the words of a failure. */
const MAX_PROBLEM = 300

interface Due {
  readonly held: HeldReceiver
  readonly target: AuditTarget
}

export class AuditSender {
  readonly #parts: AuditSenderParts
  readonly #sending: Sending<Due>

  constructor(parts: AuditSenderParts) {
    this.#parts = parts
    this.#sending = new Sending({
      due: (room) => this.#due(room),
      send: (due) => this.#send(due),
      pollMs: parts.pollMs,
    })
  }

  start(): Repetition {
    const { events } = this.#parts
    const trouble = (error: unknown): void => events.trouble(error)
    return this.#sending.start(trouble, [every(STATES_MS, () => this.#report(), trouble)])
  }

  sendDue(): Promise<void> {
    return this.#sending.sendDue()
  }

  async #report(): Promise<void> {
    const { receivers, targets, events } = this.#parts
    events.states(await receivers.states(targets().map(({ id }) => id)))
  }

  async #due(room: number): Promise<readonly Due[]> {
    const { receivers, targets } = this.#parts
    const asked = targets()
    const holds = asked.map(({ id, timeoutMs }) => ({ id, holdMs: SEND_MS + timeoutMs + SPARE_MS }))
    const due = await receivers.due(holds, room)
    return due.flatMap((held) => {
      const target = asked.find(({ id }) => id === held.id)
      return target === undefined ? [] : [{ held, target }]
    })
  }

  async #send({ held, target }: Due): Promise<void> {
    const { receivers, events } = this.#parts
    if (held.isStartedOver) events.startedOver(target)
    try {
      const entries = await receivers.unsent(held, MAX_ENTRIES)
      const { sent, failed, problem } = await this.#sendInOrder(target, held, entries)
      const retryInMs = retryMsAfter(sent === undefined ? held.failures : 0)
      if (entries[0] !== undefined && sent !== undefined)
        events.sent(target, entries[0].sequence, sent.sequence)
      if (failed !== undefined) events.notSent(target, failed.sequence, problem, retryInMs)
      await receivers.tried(held, { sent, failure: failed && { problem, retryInMs } })
    } catch (error) {
      events.trouble(error)
    }
  }

  /** `failed` is the first entry that was not taken. */
  async #sendInOrder(
    target: AuditTarget,
    { failures }: HeldReceiver,
    entries: readonly SentEntry[],
  ): Promise<{
    readonly sent: SentEntry | undefined
    readonly failed: SentEntry | undefined
    readonly problem: string
  }> {
    const untilMs = this.#parts.clock.monotonicMs() + SEND_MS
    // After a failure one by one: what the receiver refuses holds up no entry before it.
    const atOnce = failures > 0 ? 1 : target.maxEntries
    let sent: SentEntry | undefined
    for (let from = 0; from < entries.length; from += atOnce) {
      if (this.#sending.isStopped || this.#parts.clock.monotonicMs() >= untilMs) break
      const some = entries.slice(from, from + atOnce)
      const problem = await target.send(some)
      if (problem !== undefined) return { sent, failed: some[0], problem: problem.slice(0, MAX_PROBLEM) }
      sent = some.at(-1)
    }
    return { sent, failed: undefined, problem: '' }
  }
}
