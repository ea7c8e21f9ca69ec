/** Vector spaces and their probes as schemas. */
import { z } from 'zod'
import { givenTime, storable, time } from '../wire/fields.ts'

/** What a chart shows: four deployments for a day and a half. */
const POINTS = 600
const MAX_POINTS = 10_000
/** As long as a model's id may be, in a path or elsewhere. */
const MAX_NAME = 400

export const spaceProbe = z
  .object({
    at: time,
    deployment: z.string(),
    space: z.string().describe('The space that the probe was compared with.'),
    verdict: z
      .enum(['good', 'warned', 'quarantined', 'failed'])
      .describe(
        '`warned`: near the limit. `quarantined`: outside the space. `failed`: the probe got no answer, which changes nothing.',
      ),
    cosines: z
      .array(z.number())
      .nullable()
      .describe(
        'The cosine of each probe text with its reference. null: nothing could be compared, or the probe is old.',
      ),
    least_cosine: z
      .number()
      .nullable()
      .describe('The least cosine of all probe texts with the reference. null: nothing could be compared.'),
    norm_drift: z
      .number()
      .nullable()
      .describe('The largest relative difference between the length of a vector and its reference.'),
    reason: z.string().nullable(),
  })
  .meta({ id: 'SpaceProbe' })

const spaceDeployment = z
  .object({
    deployment: z.string(),
    state: z
      .enum(['trusted', 'warned', 'held-back', 'quarantined', 'unguarded'])
      .describe(
        '`held-back`: not compared yet. A deployment that is held back or quarantined answers no requests. `unguarded`: the space guard is off.',
      ),
    reason: z.string().nullable(),
    last_good_at: time.nullable(),
    last_probe: spaceProbe.nullable(),
  })
  .meta({ id: 'SpaceDeployment' })

const pin = z.object({ key: z.string(), requests_24h: z.int() }).meta({ id: 'SpacePin' })

export const space = z
  .object({
    model: z.string(),
    space: z.string().describe('`<model>@<width>:<8 hex>`, as in the header `x-torana-space`.'),
    generation: z.int().describe('Counts the spaces that were accepted, from 1.'),
    width: z.int(),
    guarded: z.boolean().describe('false: `spaceGuard: false`. Torana does not probe the model.'),
    reference: z
      .object({
        deployment: z.string(),
        accepted_at: time,
        accepted_by: z
          .string()
          .nullable()
          .describe(
            'Who accepted it, as in the audit. null: nobody, it is what the deployment answered first.',
          ),
      })
      .nullable()
      .describe('The deployment whose vectors are the reference. null: no deployment has answered yet.'),
    pinned_by: z
      .array(pin)
      .nullable()
      .describe(
        'Keys whose requests named this space in `x-torana-space` within 24 hours, at any width, the busiest first. They get 412 once another space is accepted. null: `DATABASE_URL=memory:` keeps no requests.',
      ),
    deployments: z.array(spaceDeployment),
  })
  .meta({ id: 'Space' })

export const spaceList = z
  .object({ data: z.array(space), has_more: z.literal(false) })
  .meta({ id: 'SpaceList' })

export const spacePath = z.object({
  model: storable(MAX_NAME).min(1).describe('Its id or an alias; `/` is written `%2F`.'),
})

export const seriesQuery = z.object({
  since: givenTime.optional().describe('Default: the oldest there is.'),
  limit: z.coerce.number().int().min(1).max(MAX_POINTS).default(POINTS),
})

export const spaceSeries = z
  .object({
    data: z.array(spaceProbe),
    has_more: z.boolean().describe('There are older ones.'),
  })
  .meta({ id: 'SpaceSeries' })

const MAX_SLOT_SECONDS = 7 * 86_400
/** The finest that tells more than the single looks do: one is made every 15 minutes. */
const MIN_SLOT_SECONDS = 900

export const slotsQuery = z.object({
  since: givenTime.optional().describe('Default: the oldest there is.'),
  slot_seconds: z.coerce.number().int().min(MIN_SLOT_SECONDS).max(MAX_SLOT_SECONDS).default(7200),
  limit: z.coerce.number().int().min(1).max(MAX_POINTS).default(POINTS),
})

const spaceSlot = z
  .object({
    at: time.describe('Where the slot begins.'),
    deployment: z.string(),
    space: z.string(),
    looks: z.int(),
    failed: z.int().describe('Looks that got no answer, which is no drift.'),
    verdict: z.enum(['good', 'warned', 'quarantined', 'failed']).describe('The worst of the slot.'),
    least_cosine: z.number().nullable(),
    norm_drift: z.number().nullable(),
  })
  .meta({ id: 'SpaceSlot' })

export const spaceSlots = z
  .object({ data: z.array(spaceSlot), has_more: z.boolean().describe('There are older ones.') })
  .meta({ id: 'SpaceSlotList' })

export const acceptance = z
  .strictObject({ deployment: storable(MAX_NAME).min(1) })
  .meta({ id: 'SpaceAcceptance' })
