import {
  WEBHOOK_HOLD_MS,
  type WebhookDelivery,
  type WebhookEvent,
  type WebhookOutbox,
} from '#ports/webhooks.ts'
import { reachable } from '../unreachable.ts'
import type { Database, Sql } from '../database.ts'

const ENQUEUE = `
INSERT INTO webhook_events (event_id, url, project, type, payload)
SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[]) AS given (event_id, url)
ORDER BY event_id, url
ON CONFLICT DO NOTHING`

/** Rows that others are taking at this moment are skipped. */
const TAKE_DUE = `
WITH due AS MATERIALIZED (
  SELECT event_id, url FROM webhook_events WHERE ended_at IS NULL AND due_at <= now()
  ORDER BY tries, due_at, event_id, url LIMIT $2 FOR UPDATE SKIP LOCKED
)
UPDATE webhook_events AS events
SET tries = events.tries + 1, node_id = $1, due_at = now() + interval '${WEBHOOK_HOLD_MS} ms'
FROM due WHERE events.event_id = due.event_id AND events.url = due.url
RETURNING events.*`

const DONE = `
UPDATE webhook_events SET ended_at = now(), outcome = 'sent'
WHERE event_id = $1 AND url = $2 AND outcome IS DISTINCT FROM 'sent'`

const RETRY = `
UPDATE webhook_events SET due_at = now() + $4 * interval '1 ms'
WHERE event_id = $1 AND url = $2 AND tries = $3 AND ended_at IS NULL`

const GIVE_UP = `
UPDATE webhook_events SET ended_at = now(), outcome = 'given-up'
WHERE event_id = $1 AND url = $2 AND tries = $3 AND ended_at IS NULL`

/** Rows that one statement deletes: a fraction of a second. */
const PAGE_ROWS = 1000

const DELETE_OLD = `
DELETE FROM webhook_events WHERE (event_id, url) IN (
  SELECT event_id, url FROM webhook_events WHERE ended_at < now() - $1 * interval '1 ms' LIMIT ${PAGE_ROWS}
) RETURNING 1`

interface EventRow {
  readonly event_id: string
  readonly url: string
  readonly project: string
  readonly type: WebhookEvent['type']
  readonly payload: string
  readonly tries: number
}

/** Also for callers that have a transaction to which the events belong. */
export async function enqueueWebhooks(sql: Sql, events: readonly WebhookEvent[]): Promise<void> {
  if (events.length === 0) return
  const column = (value: (event: WebhookEvent) => string): string[] => events.map(value)
  await sql.query(ENQUEUE, [
    column(({ id }) => id),
    column(({ url }) => url),
    column(({ project }) => project),
    column(({ type }) => type),
    column(({ payload }) => payload),
  ])
}

export class PostgresWebhooks implements WebhookOutbox {
  readonly #database: Database

  constructor(database: Database) {
    this.#database = database
  }

  enqueue(events: readonly WebhookEvent[]): Promise<void> {
    return reachable(enqueueWebhooks(this.#database, events))
  }

  async due(nodeId: string, limit: number): Promise<readonly WebhookDelivery[]> {
    const rows = await reachable(this.#database.query<EventRow>(TAKE_DUE, [nodeId, limit], 'webhook-due'))
    return rows.map(({ event_id, url, project, type, payload, tries }) => ({
      id: event_id,
      url,
      project,
      type,
      payload,
      tries,
    }))
  }

  async done({ id, url }: WebhookDelivery): Promise<void> {
    await reachable(this.#database.query(DONE, [id, url]))
  }

  async failed(
    { id, url, tries }: WebhookDelivery,
    next: { readonly retryInMs: number } | 'give-up',
  ): Promise<void> {
    const values = [id, url, tries]
    await reachable(
      next === 'give-up'
        ? this.#database.query(GIVE_UP, values)
        : this.#database.query(RETRY, [...values, next.retryInMs]),
    )
  }

  async deleteOld(keptMs: number): Promise<number> {
    let deleted = 0
    for (;;) {
      const rows = await reachable(this.#database.query(DELETE_OLD, [keptMs]))
      deleted += rows.length
      if (rows.length < PAGE_ROWS) return deleted
    }
  }
}
