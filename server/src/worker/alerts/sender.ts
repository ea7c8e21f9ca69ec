/** Sends the notices that wait for channels: one at a time for each channel, and again until it arrives or is given up. */
import type { ChannelKind, ChannelTarget } from '#core/alerts/rule.ts'
import type { AfterTry, AlertTransport, DeliveryResult, DueNotice } from '#ports/alerts.ts'
import type { PostgresAlertOutbox } from '#stores/postgres/alerts/outbox.ts'
import { every, type Repeat, type Repetition } from '../every.ts'
import { retryMsAfter, Sending } from '../sending.ts'

export interface AlertSenderParts {
  readonly outbox: Pick<PostgresAlertOutbox, 'due' | 'tried' | 'deleteOld'>
  readonly transport: AlertTransport
  /** Undefined: the channel is no longer there. */
  readonly targetOf: (channel: string) => Promise<ChannelTarget | undefined>
  readonly nowMs: () => number
  readonly events: AlertSenderEvents
  readonly pollMs?: number | undefined
  readonly repeat?: Repeat | undefined
}

interface AlertSenderEvents {
  sent(notice: DueNotice): void
  /** `retryInMs` is undefined when the notice is given up. */
  notSent(notice: DueNotice, problem: string, retryInMs: number | undefined): void
  /** The outbox could not be read or written. A notice that was sent and could not be recorded is sent again. */
  trouble(error: unknown): void
}

/** Retention of incidents: the questions of a quarter. */
const INCIDENTS_KEPT_MS = 90 * 86_400_000

/** Age at which a notice is given up: after a day it is history, which the console has. */
const GIVE_UP_MS = 86_400_000
const FORGET_EVERY_MS = 3_600_000
/** Notices per minute: what chats, PagerDuty and mail servers take from one sender. */
const MAX_PER_MINUTE: Readonly<Record<ChannelKind, number>> = {
  slack: 60,
  teams: 60,
  pagerduty: 120,
  email: 60,
  webhook: 1200,
}

export class AlertSender {
  readonly #parts: AlertSenderParts
  readonly #sending: Sending<DueNotice>

  constructor(parts: AlertSenderParts) {
    const { outbox, pollMs, repeat } = parts
    this.#parts = parts
    this.#sending = new Sending({
      due: (room) => outbox.due(room),
      send: (due) => this.#send(due),
      pollMs,
      repeat,
    })
  }

  start(): Repetition {
    const { outbox, events } = this.#parts
    const trouble = (error: unknown): void => events.trouble(error)
    const forget = async (): Promise<void> => void (await outbox.deleteOld(INCIDENTS_KEPT_MS))
    return this.#sending.start(trouble, [every(FORGET_EVERY_MS, forget, trouble)])
  }

  sendDue(): Promise<void> {
    return this.#sending.sendDue()
  }

  async #send(due: DueNotice): Promise<void> {
    const { outbox, events } = this.#parts
    try {
      const { result, kind } = await this.#deliver(due)
      const after = this.#after(due, result, kind)
      if (after.outcome === 'sent') events.sent(due)
      else events.notSent(due, result.problem ?? '', after.outcome === 'failed' ? after.retryInMs : undefined)
      await outbox.tried(due, result, after)
    } catch (error) {
      events.trouble(error)
    }
  }

  async #deliver(
    due: DueNotice,
  ): Promise<{ readonly result: DeliveryResult; readonly kind: ChannelKind | undefined }> {
    const { targetOf, transport } = this.#parts
    const target = await targetOf(due.channel)
    if (target !== undefined) return { kind: target.kind, result: await transport.send(target, due.notice) }
    const problem = 'the channel is no longer configured'
    return { kind: undefined, result: { isOk: false, status: undefined, ms: 0, problem } }
  }

  #after(due: DueNotice, { isOk }: DeliveryResult, kind: ChannelKind | undefined): AfterTry {
    if (kind === undefined) return { outcome: 'given-up', retryInMs: 0 }
    if (isOk) return { outcome: 'sent', pauseMs: Math.ceil(60_000 / MAX_PER_MINUTE[kind]) }
    const retryInMs = retryMsAfter(due.failures)
    const isOld = this.#parts.nowMs() - due.dueAtMs > GIVE_UP_MS
    return { outcome: isOld ? 'given-up' : 'failed', retryInMs }
  }
}
