/** Sends the events that wait for webhooks. Each is retried until it arrives or is given up. */
import {
  WEBHOOK_EVENTS_KEPT_MS,
  type WebhookDelivery,
  type WebhookOutbox,
  type WebhookSecretOf,
  type WebhookTransport,
} from '#ports/webhooks.ts'
import { every, type Repeat, type Repetition } from './every.ts'
import { Sending } from './sending.ts'

export interface WebhookSenderParts {
  readonly nodeId: string
  readonly outbox: WebhookOutbox
  readonly transport: WebhookTransport
  readonly secretOf: WebhookSecretOf
  readonly events: WebhookSenderEvents
  readonly pollMs?: number | undefined
  readonly repeat?: Repeat | undefined
}

interface WebhookSenderEvents {
  sent(delivery: WebhookDelivery): void
  /** `retryInMs` is undefined when the event is given up. */
  notSent(delivery: WebhookDelivery, reason: string, retryInMs: number | undefined): void
  /** The outbox could not be read or written. An event that was sent and could not be recorded is sent again. */
  trouble(error: unknown): void
}

/** Waits between attempts: a restart, a deployment, an outage, and a night. Then the event is given up. */
const RETRY_MS = [5000, 30_000, 120_000, 600_000, 3_600_000, 6 * 3_600_000] as const
const FORGET_EVERY_MS = 3_600_000
/** The status of a webhook that wants no more events. */
const GONE = 410

export class WebhookSender {
  readonly #parts: WebhookSenderParts
  readonly #sending: Sending<WebhookDelivery>

  constructor(parts: WebhookSenderParts) {
    const { outbox, nodeId, pollMs, repeat } = parts
    this.#parts = parts
    this.#sending = new Sending({
      due: (room) => outbox.due(nodeId, room),
      send: (delivery) => this.#send(delivery),
      pollMs,
      repeat,
    })
  }

  start(): Repetition {
    const { outbox, events } = this.#parts
    const trouble = (error: unknown): void => events.trouble(error)
    const forget = async (): Promise<void> => void (await outbox.deleteOld(WEBHOOK_EVENTS_KEPT_MS))
    return this.#sending.start(trouble, [every(FORGET_EVERY_MS, forget, trouble)])
  }

  sendDue(): Promise<void> {
    return this.#sending.sendDue()
  }

  async #send(delivery: WebhookDelivery): Promise<void> {
    const { outbox, secretOf, events } = this.#parts
    const secret = secretOf(delivery.project, delivery.url)
    const failure =
      secret === undefined
        ? { reason: 'the webhook is configured no more', isFinal: true }
        : await this.#post(delivery, secret)
    try {
      if (failure === undefined) {
        events.sent(delivery)
        await outbox.done(delivery)
        return
      }
      const retryInMs = failure.isFinal ? undefined : RETRY_MS[delivery.tries - 1]
      events.notSent(delivery, failure.reason, retryInMs)
      await outbox.failed(delivery, retryInMs === undefined ? 'give-up' : { retryInMs })
    } catch (error) {
      events.trouble(error)
    }
  }

  /** Why it did not arrive; undefined when it did. */
  async #post(
    { id, url, payload }: WebhookDelivery,
    secret: string,
  ): Promise<{ readonly reason: string; readonly isFinal: boolean } | undefined> {
    try {
      const { status } = await this.#parts.transport.post({ url, secret, id, payload })
      if (status >= 200 && status < 300) return undefined
      return { reason: `status ${status}`, isFinal: status === GONE }
    } catch (error) {
      return { reason: error instanceof Error ? error.message : String(error), isFinal: false }
    }
  }
}
