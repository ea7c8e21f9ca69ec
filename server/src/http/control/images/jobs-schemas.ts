/** The shapes of image jobs at the control API. */
import { z } from 'zod'
import { cursor, storable, time, usd } from '../wire/fields.ts'

const NAME = 512

const status = z.enum(['queued', 'running', 'succeeded', 'failed', 'unknown'])

export const jobsQuery = z.object({
  mine: z.enum(['true', 'false']).optional().describe('Only those that this member made in the playground.'),
  project: storable(NAME).optional(),
  model: storable(NAME).optional(),
  status: status.optional(),
  limit: z.coerce.number().int().min(1).max(200).default(50),
  after: z.uuid().optional(),
})

export const jobStep = z.object({
  name: z.enum(['written', 'reserved', 'sent', 'delivered', 'kept', 'posted', 'ended', 'answered']),
  at: time,
})

export const imageJob = z
  .object({
    id: z.uuid(),
    status,
    kind: z.enum(['generation', 'edit']),
    project: z.string(),
    key: z.string(),
    model: z.string(),
    created_at: time,
    ended_at: time.nullable(),
    expires_at: time.nullable().describe('Until then its pictures are kept.'),
    duration_ms: z.number().nullable(),
    cost_usd: usd.nullable(),
    fault: z.string().nullable(),
    pictures: z.array(
      z.object({
        asset: z.string(),
        width: z.int(),
        height: z.int(),
        format: z.string(),
        bytes: z.int(),
      }),
    ),
    steps: z.array(jobStep),
    holders: z.array(z.object({ node: z.string(), from: time })),
  })
  .meta({ id: 'ReportedImageJob' })

export const imageJobList = z
  .object({ data: z.array(imageJob), has_more: z.boolean(), next: cursor })
  .meta({ id: 'ReportedImageJobList' })
