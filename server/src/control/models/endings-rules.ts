/** Models that end, each with where the day is from, who still uses it, and the notices about it. */
import { z } from 'zod'
import type { AnnouncedEnd } from '#core/catalog/announced-ends.ts'
import { daysLeft, hasEnded, NOTICE_DAYS } from '#core/catalog/model-end.ts'
import { time } from '../shared/fields.ts'
import { modelUsers, type ModelUsers } from '../shared/model-users-queries.ts'
import type { SentNotice } from './endings-queries.ts'

export const modelEnding = z
  .object({
    upstream: z.string(),
    model: z.string(),
    ends_on: z.iso.date().describe('The model ends at the beginning of this day, in UTC.'),
    successor: z.string().nullable(),
    source: z.enum(['upstream', 'catalog', 'configuration']),
    source_at: z
      .string()
      .describe(
        'The day on which it was read there; of the configuration, the line or what `endSource` says.',
      ),
    used_by: modelUsers.shape.keys,
    requests_30d: z.int().describe('Of all keys that used the model within 30 days.'),
    notices: z
      .array(
        z.object({
          days: z.int().describe('Days before the end.'),
          sent_at: time.nullable().describe('null: it is to come, or a later one took its place.'),
        }),
      )
      .describe('The webhook `model.ending`, to projects that use the model.'),
    change: z.string().nullable().describe('Always null in this version.'),
  })
  .meta({ id: 'ModelEnding' })

export type ModelEnding = z.output<typeof modelEnding>

export interface EndingView {
  readonly users: ReadonlyMap<string, ModelUsers>
  readonly notices: readonly SentNotice[]
  readonly nowMs: number
  /** How far ahead the view reaches. */
  readonly days: number
  /** Only models that keys of the caller's projects used. */
  readonly isOfUsersOnly: boolean
}

/** A model that has ended is listed while it is used: its users must move. */
export function endingBodies(ends: readonly AnnouncedEnd[], view: EndingView): ModelEnding[] {
  const { users, nowMs, days, isOfUsersOnly } = view
  return ends
    .filter(
      (end) =>
        daysLeft(end, nowMs) <= days && (users.has(end.model) || !(isOfUsersOnly || hasEnded(end, nowMs))),
    )
    .map((end) => endingBody(end, view))
}

function endingBody(end: AnnouncedEnd, { users, notices }: EndingView): ModelEnding {
  const { upstream, model, on, successor = null, from, source, asOf } = end
  const used = users.get(model)
  const own = notices.filter((one) => one.upstream === upstream && one.model === model && one.ends_on === on)
  return {
    upstream,
    model,
    ends_on: on,
    successor,
    source: from,
    source_at: asOf ?? source ?? '',
    used_by: used?.keys ?? [],
    requests_30d: used?.requests_30d ?? 0,
    notices: NOTICE_DAYS.map((days) => ({
      days,
      sent_at: own.find((one) => one.days === days)?.sent_at ?? null,
    })),
    change: null,
  }
}
