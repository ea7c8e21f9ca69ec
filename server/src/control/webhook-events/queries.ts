/** Events for webhooks of projects, without what was sent. */
import { z } from 'zod'
import type { Sql } from '#stores/postgres/database.ts'
import { time } from '../shared/fields.ts'
import { answersOf } from '../shared/rows.ts'
import { outcome } from '../shared/webhook-fields.ts'

export const webhookEvent = z
  .object({
    id: z.string(),
    project: z.string(),
    type: z.string(),
    url: z.string().describe('Without its path, which is a secret at many receivers.'),
    tries: z.int(),
    created_at: time,
    ended_at: time.nullable(),
    outcome,
  })
  .meta({ id: 'WebhookEvent' })

/** `mark` distinguishes the webhooks that have the same event. $3 to $5: the last event of the page before. */
const EVENTS = `
SELECT event_id AS id, project, type, url, md5(url) AS mark, tries, created_at, ended_at,
  coalesce(outcome, 'waiting') AS outcome
FROM webhook_events
WHERE ($1::text[] IS NULL OR project = ANY ($1)) AND ($2::text IS NULL OR coalesce(outcome, 'waiting') = $2)
  AND ($3::timestamptz IS NULL OR (date_trunc('milliseconds', created_at), event_id, md5(url)) < ($3, $4, $5))
ORDER BY date_trunc('milliseconds', created_at) DESC, event_id DESC, md5(url) DESC LIMIT $6`

export interface WebhookPage {
  /** Undefined: all. */
  readonly projects?: readonly string[] | undefined
  readonly outcome?: z.output<typeof outcome> | undefined
  /** The last event of the page before. */
  readonly after?: Readonly<Record<'created_at' | 'id' | 'mark', string>> | undefined
  readonly limit: number
}

/** Newest first, with their whole URL. */
export function listWebhookEvents(sql: Sql, { projects, outcome: asked, after, limit }: WebhookPage) {
  return answersOf<z.output<typeof webhookEvent> & { readonly mark: string }>(sql, EVENTS, [
    projects ?? null,
    asked ?? null,
    after?.created_at ?? null,
    after?.id ?? null,
    after?.mark ?? null,
    limit,
  ])
}
