import { BoundedMap } from '#core/structure/bounded-map.ts'
import type { Clock } from '#ports/clock.ts'
import {
  WEBHOOK_HOLD_MS,
  type WebhookDelivery,
  type WebhookEvent,
  type WebhookOutbox,
} from '#ports/webhooks.ts'

interface StoredEvent {
  readonly event: WebhookEvent
  tries: number
  dueAtMs: number
  endedAtMs: number | undefined
  wasSent: boolean
}

/** Events in memory, gone with the process. */
export class MemoryWebhooks implements WebhookOutbox {
  readonly #clock: Clock
  /** By event and URL, oldest first. */
  readonly #events: BoundedMap<string, StoredEvent>

  /** `keeps`: the number of events that are remembered. Then the oldest is forgotten, sent or not. */
  constructor(clock: Clock, keeps = 10_000) {
    this.#clock = clock
    this.#events = new BoundedMap(keeps)
  }

  async enqueue(events: readonly WebhookEvent[]): Promise<void> {
    this.add(events)
  }

  /** For stores beside this one: within their own step. */
  add(events: readonly WebhookEvent[]): void {
    for (const event of events) {
      if (this.#events.has(identityOf(event))) continue
      const dueAtMs = this.#clock.nowMs()
      this.#events.set(identityOf(event), { event, tries: 0, dueAtMs, endedAtMs: undefined, wasSent: false })
    }
  }

  async due(_nodeId: string, limit: number): Promise<readonly WebhookDelivery[]> {
    const nowMs = this.#clock.nowMs()
    const due = [...this.#events.values()]
      .filter(({ endedAtMs, dueAtMs }) => endedAtMs === undefined && dueAtMs <= nowMs)
      .toSorted((left, right) => left.tries - right.tries || left.dueAtMs - right.dueAtMs)
      .slice(0, limit)
    return due.map((stored) => {
      stored.tries += 1
      stored.dueAtMs = nowMs + WEBHOOK_HOLD_MS
      return { ...stored.event, tries: stored.tries }
    })
  }

  async done(delivery: WebhookDelivery): Promise<void> {
    const stored = this.#events.get(identityOf(delivery))
    if (stored === undefined || stored.wasSent) return
    stored.endedAtMs = this.#clock.nowMs()
    stored.wasSent = true
  }

  async failed(delivery: WebhookDelivery, next: { readonly retryInMs: number } | 'give-up'): Promise<void> {
    const stored = this.#events.get(identityOf(delivery))
    if (stored?.tries !== delivery.tries || stored.endedAtMs !== undefined) return
    if (next === 'give-up') stored.endedAtMs = this.#clock.nowMs()
    else stored.dueAtMs = this.#clock.nowMs() + next.retryInMs
  }

  async deleteOld(keptMs: number): Promise<number> {
    const beforeMs = this.#clock.nowMs() - keptMs
    const old = [...this.#events.values()].filter(
      ({ endedAtMs }) => endedAtMs !== undefined && endedAtMs < beforeMs,
    )
    for (const { event } of old) this.#events.delete(identityOf(event))
    return old.length
  }
}

function identityOf({ id, url }: WebhookEvent): string {
  return `${id} ${url}`
}
