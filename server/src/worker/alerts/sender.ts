/** Sends the notices that wait for channels: one at a time for each channel, and again until it arrives or is given up. */
import type { ChannelKind, ChannelTarget } from '#core/alerts/rule.ts'
import {
  INCIDENTS_KEPT_MS,
  type AfterTry,
  type AlertOutbox,
  type AlertTransport,
  type DeliveryResult,
  type DueNotice,
} from '#ports/alerts.ts'
import { every, type Repetition } from '../every.ts'

export interface AlertSenderParts {
  readonly outbox: Pick<AlertOutbox, 'due' | 'tried' | 'deleteOld'>
  readonly transport: AlertTransport
  /** Undefined: the channel is no longer there. */
  readonly targetOf: (channel: string) => Promise<ChannelTarget | undefined>
  readonly nowMs: () => number
  readonly events: AlertSenderEvents
  /** `POLL_MS` unless given. */
  readonly pollMs?: number | undefined
}

interface AlertSenderEvents {
  sent(notice: DueNotice): void
  /** `retryInMs` is undefined when the notice is given up. */
  notSent(notice: DueNotice, problem: string, retryInMs: number | undefined): void
  /** The outbox could not be read or written. A notice that was sent and could not be recorded is sent again. */
  trouble(error: unknown): void
}

/** Waits of a failing channel between tries; the last one is repeated. */
const RETRY_MS = [5000, 15_000, 60_000, 120_000, 300_000, 600_000] as const
/** Age at which a notice is given up: after a day it is history, which the console has. */
const GIVE_UP_MS = 86_400_000
/** Channels that one node sends to at once. Each may take its whole timeout. */
const AT_ONCE = 16
const POLL_MS = 1000
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
  #isStopped = false

  constructor(parts: AlertSenderParts) {
    this.#parts = parts
  }

  start(): Repetition {
    const { outbox, events, pollMs = POLL_MS } = this.#parts
    const trouble = (error: unknown): void => events.trouble(error)
    const forget = async (): Promise<void> => void (await outbox.deleteOld(INCIDENTS_KEPT_MS))
    const repeating = [every(pollMs, () => this.sendDue(), trouble), every(FORGET_EVERY_MS, forget, trouble)]
    return {
      stop: async () => {
        this.#isStopped = true
        await Promise.all(repeating.map((one) => one.stop()))
      },
    }
  }

  /** Sends until nothing is due. A channel that hangs holds up no other. */
  async sendDue(): Promise<void> {
    const { outbox, pollMs = POLL_MS } = this.#parts
    const underWay = new Set<Promise<void>>()
    try {
      while (!this.#isStopped) {
        const room = AT_ONCE - underWay.size
        const due = room > 0 ? await outbox.due(room) : []
        for (const notice of due) {
          const sending = this.#send(notice).finally(() => underWay.delete(sending))
          underWay.add(sending)
        }
        if (underWay.size === 0) return
        await Promise.race([...underWay, pause(pollMs)])
      }
    } finally {
      await Promise.all(underWay)
    }
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
    const retryInMs = RETRY_MS[Math.min(due.failures, RETRY_MS.length - 1)] ?? 0
    const isOld = this.#parts.nowMs() - due.dueAtMs > GIVE_UP_MS
    return { outcome: isOld ? 'given-up' : 'failed', retryInMs }
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => void setTimeout(resolve, ms).unref())
}
