/** Webhooks: events that projects are told of, kept until they were sent. */

export type WebhookEventType =
  | 'image.job.succeeded'
  | 'image.job.failed'
  | 'image.job.unknown'
  | 'batch.completed'
  | 'batch.failed'
  | 'batch.expired'
  | 'batch.cancelled'
  | 'budget.reached'

/** One event for one webhook of a project. */
export interface WebhookEvent {
  /** `evt_…`; with the URL it is the event's identity: who gets it twice can tell. */
  readonly id: string
  readonly project: string
  readonly url: string
  readonly type: WebhookEventType
  /** JSON, byte for byte what is sent and signed. It never holds a prompt. */
  readonly payload: string
}

/** Which webhooks of a project ask for events of a type, as configured now. */
export type WebhooksFor = (project: string, type: WebhookEventType) => readonly { readonly url: string }[]

/** The secret that a project's webhook is signed with, as configured now. Undefined: it is configured no more. */
export type WebhookSecretOf = (project: string, url: string) => string | undefined

/** An event that this node is to send now. */
export interface WebhookDelivery extends WebhookEvent {
  /** How often it has been tried, this time included. */
  readonly tries: number
}

/**
 * Events are sent at least once: a node that ends between sending one and noting it leaves it to another. Every method may
 * be repeated after an answer was lost, and rejects with `StoreAway` when the store can't be reached.
 */
export interface WebhookOutbox {
  /** An event that is there already, sent or not, stays as it is: so several nodes may tell of the same. */
  enqueue(events: readonly WebhookEvent[]): Promise<void>
  /**
   * Takes events whose time has come, at most `limit`: they are this node's to send for `WEBHOOK_HOLD_MS`, then anybody's.
   * First tries come before repeated ones, so that a webhook that is gone does not hold up the others.
   */
  due(nodeId: string, limit: number): Promise<readonly WebhookDelivery[]>
  /** It has been sent. */
  done(delivery: WebhookDelivery): Promise<void>
  /** It has not. Without effect when somebody has tried it since. */
  failed(delivery: WebhookDelivery, next: { readonly retryInMs: number } | 'give-up'): Promise<void>
  /** Deletes events that were sent or given up more than `keptMs` ago; returns how many. */
  deleteOld(keptMs: number): Promise<number>
}

/** Longer than a try may take, with the wait of a busy node. */
export const WEBHOOK_HOLD_MS = 60_000

/** What is sent in one try. */
export interface WebhookPost {
  readonly url: string
  readonly secret: string
  readonly id: string
  readonly payload: string
}

/** Sends a signed event once, and follows no redirect. Rejects with whatever kept the answer away. */
export interface WebhookTransport {
  post(post: WebhookPost): Promise<{ readonly status: number }>
}
