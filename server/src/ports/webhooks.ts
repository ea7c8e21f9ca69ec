/** Webhooks: events for projects, kept until they were sent. */

export type WebhookEventType =
  | 'image.job.succeeded'
  | 'image.job.failed'
  | 'image.job.unknown'
  | 'batch.completed'
  | 'batch.failed'
  | 'batch.expired'
  | 'batch.cancelled'
  | 'budget.reached'
  | 'space.suspect'

/** One event for one webhook of a project. */
export interface WebhookEvent {
  /** `evt_…`; together with the URL it is the event's identity, by which a receiver recognises a duplicate. */
  readonly id: string
  readonly project: string
  readonly url: string
  readonly type: WebhookEventType
  /** JSON, byte for byte what is sent and signed. It never holds a prompt. */
  readonly payload: string
}

/** The webhooks of a project that ask for events of a type, as configured now. */
export type WebhooksFor = (project: string, type: WebhookEventType) => readonly { readonly url: string }[]

/** The signing secret of a project's webhook, as configured now. Undefined: it is no longer configured. */
export type WebhookSecretOf = (project: string, url: string) => string | undefined

/** An event that this node is to send now. */
export interface WebhookDelivery extends WebhookEvent {
  /** Number of tries, this one included. */
  readonly tries: number
}

/**
 * Events are sent at least once: a node that dies between sending one and recording it leaves it to another. Every method
 * may be repeated after a lost answer, and rejects with `StoreUnreachable` when the store can't be reached.
 */
export interface WebhookOutbox {
  /** An existing event, sent or not, stays unchanged: several nodes may report the same one. */
  enqueue(events: readonly WebhookEvent[]): Promise<void>
  /**
   * Takes due events, at most `limit`: this node may send them for `WEBHOOK_HOLD_MS`, then any node may. First tries come
   * before repeated ones, so that a dead webhook does not hold up the others.
   */
  due(nodeId: string, limit: number): Promise<readonly WebhookDelivery[]>
  /** It has been sent. */
  done(delivery: WebhookDelivery): Promise<void>
  /** It was not sent. Has no effect when another node has tried it since. */
  failed(delivery: WebhookDelivery, next: { readonly retryInMs: number } | 'give-up'): Promise<void>
  /** Deletes events that were sent or given up more than `keptMs` ago; returns how many. */
  deleteOld(keptMs: number): Promise<number>
}

/** Hold of an event: longer than a try may take, with the wait of a busy node. */
export const WEBHOOK_HOLD_MS = 60_000

/** Retention of events: a month and a few days, so that each mark of a monthly budget is reported only once. */
export const WEBHOOK_EVENTS_KEPT_MS = 35 * 86_400_000

/** Timeout of a try: receivers acknowledge first and work later. */
export const WEBHOOK_TIMEOUT_MS = 10_000

/** What is sent in one try. */
export interface WebhookPost {
  readonly url: string
  /** Undefined: it is posted without a signature, to those who check none. */
  readonly secret: string | undefined
  readonly id: string
  readonly payload: string
}

/** Sends a signed event once, and follows no redirect. Rejects with the error that prevented the answer. */
export interface WebhookTransport {
  post(post: WebhookPost): Promise<{ readonly status: number }>
}
