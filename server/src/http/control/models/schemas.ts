/** Models as the control API shows them. */
import { z } from 'zod'
import { cursor, storable, time, usd } from '../wire/fields.ts'
import { priceText } from '../wire/price-text.ts'

/** As long as a model's id may be, in a path or elsewhere. */
const MAX_NAME = 400

const deploymentState = z
  .enum(['healthy', 'limited', 'ejected', 'probing', 'held-back', 'quarantined', 'drained'])
  .meta({ id: 'State' })

export const deploymentBrief = z
  .object({
    id: z.string(),
    model: z.string(),
    kind: z.enum(['embedding', 'image']),
    upstream: z.string(),
    state: deploymentState.describe('The worst of all nodes.'),
    until: time.nullable().describe('When it is probed or called again.'),
    since: time.describe('Since when it is in this state.'),
    ends_on: z
      .string()
      .nullable()
      .describe('The day on which its provider shuts the model down. null: no day is known.'),
  })
  .meta({ id: 'DeploymentBrief' })

export const managed = {
  managed_by: z
    .enum(['configuration', 'store', 'built-in'])
    .describe('`configuration`: declared in torana.yaml. Only what the store manages can be changed here.'),
  managed_at: z.string().nullable().describe('`torana.yaml:88`. null: it has no line of its own.'),
}

const askedBy = z.object({ key: z.string(), requests_7d: z.int() })

export const modelRow = z
  .object({
    ...managed,
    id: z.string(),
    kind: z.enum(['embedding', 'image']),
    aliases: z.array(z.string()),
    owned_by: z.string(),
    space: z
      .string()
      .nullable()
      .describe('The space of its full width. null: an image model, or not known yet.'),
    retired: z
      .object({
        on: z.string(),
        successor: z.string().nullable(),
        asked_by: z
          .array(askedBy)
          .describe('The keys that still ask for it, with their requests of seven days.'),
      })
      .nullable(),
    ends: z
      .object({
        on: z.string().describe('`2026-12-01`: it ends as this day begins, in UTC.'),
        days_left: z.int().describe('0 or less: the day has come.'),
        successor: z.string().nullable().describe('As its provider names it. It may not be served here.'),
      })
      .nullable()
      .describe('When the last of its deployments ends. null: one of them has no end.'),
    embedding: z
      .object({
        width: z.int(),
        narrower: z.union([z.enum(['any', 'none']), z.array(z.int())]),
        max_input_tokens: z.int().nullable(),
        max_inputs: z.int().describe('Of one call to an upstream. Larger requests are split.'),
      })
      .nullable(),
    image: z
      .object({
        sizes: z.object({
          kind: z.enum(['list', 'free', 'any']),
          values: z.array(z.string()),
          default: z.string().describe('What it makes when nobody asks for a size.'),
          multiple_of: z.int().nullable(),
          min_pixels: z.int().nullable(),
          max_pixels: z.int(),
          max_edge: z.int().nullable(),
          max_ratio: z.number().nullable(),
        }),
        max_given: z.int(),
        max_given_bytes: z.int().describe('Of one input image or mask.'),
        max_per_call: z.int(),
        previews: z.int(),
        qualities: z.array(z.string()),
        formats: z.array(z.string()),
      })
      .nullable(),
    can: z
      .record(z.string(), z.enum(['native', 'emulated']))
      .describe('What at least one deployment does, or Torana for it. What is absent is refused.'),
    deployments: z.array(deploymentBrief),
    price: z.array(priceText).describe('Of the first deployment that has one.'),
    last_hour: z.object({ requests: z.int(), failed: z.int(), p95_ms: z.number().nullable() }),
    last_day: z.object({ requests: z.int() }),
    cells: z
      .string()
      .describe(
        'The worst of each six hours of seven days: `g`ood, `w`arned, `b`ad, `q`uarantined, `.` nothing.',
      ),
  })
  .meta({ id: 'ModelRow' })

const optionCell = z.object({
  how: z.enum(['native', 'emulated', 'refused', 'value']),
  value: z.string().describe('What Torana does instead, or the figure.'),
})

export const model = modelRow
  .extend({
    options: z.array(
      z.object({
        group: z.enum(['answers', 'takes', 'money']),
        option: z.string(),
        by_deployment: z.record(z.string(), optionCell),
      }),
    ),
    prices: z.record(z.string(), z.array(priceText)).describe('The price of each deployment.'),
    tiers: z
      .array(
        z.array(
          z.object({
            deployment: z.string(),
            weight: z.number(),
            share: z.number().describe('Its part of the calls of 24 hours.'),
            last_used_at: time.nullable().describe('Accurate to an hour.'),
            limits: z
              .object({
                requests_per_minute: z.int().optional(),
                tokens_per_minute: z.int().optional(),
                images_per_minute: z.int().optional(),
                concurrency: z.int().optional(),
              })
              .describe('As configured, for all nodes together.'),
          }),
        ),
      )
      .describe('In the order in which they are asked.'),
    cache: z
      .object({
        ttl_seconds: z.int(),
        hits_share: z.number().describe('Of the newest inputs of 24 hours.'),
        saved_usd: usd.describe('What its hits of 24 hours would have cost.'),
      })
      .nullable(),
    micro_batch: z
      .object({ max_wait_ms: z.number(), max_items: z.int(), average_items: z.number().nullable() })
      .nullable(),
    guarded: z.boolean(),
    ends_by_deployment: z
      .record(
        z.string(),
        modelRow.shape.ends.unwrap().extend({
          source: z
            .string()
            .nullable()
            .describe('Where the day was read: an address, or a line of torana.yaml.'),
          as_of: z.string().nullable().describe('The day on which it was read there.'),
          note: z.string().nullable(),
        }),
      )
      .describe('Deployments whose provider announced a day.'),
    used_by: z
      .object({
        keys: z
          .array(z.object({ key: z.string(), requests_30d: z.int() }))
          .describe('The busiest first, at most 20.'),
        count: z.int().describe('Of all keys that used it.'),
      })
      .nullable()
      .describe(
        'Who used it within 30 days. null: no deployment of it ends within 90 days, or nothing is kept.',
      ),
  })
  .meta({ id: 'ModelDetail' })

export const modelPath = z.object({
  id: storable(MAX_NAME).min(1).describe('Its id or an alias; `/` is written `%2F`.'),
})

const SORTS = ['requests', 'name', 'p95', 'price'] as const

export const modelsQuery = z.object({
  kind: z.enum(['embedding', 'image']).optional(),
  q: storable(MAX_NAME).optional().describe('A part of an id, an alias or the name of an upstream.'),
  can: z
    .union([storable(40), z.array(storable(40)).max(20)])
    .optional()
    .describe('Repeatable: what it must be able to do.'),
  upstream: storable(MAX_NAME).optional(),
  health: z.enum(['well', 'ill']).optional().describe('`ill`: a deployment of it is not healthy.'),
  project: storable(MAX_NAME).optional().describe('Only models that its keys may use.'),
  sort: z.enum(SORTS).default('requests'),
})

export type ModelSort = (typeof SORTS)[number]

export const modelList = z
  .object({ data: z.array(modelRow), has_more: z.boolean(), next: cursor })
  .meta({ id: 'ModelRowList' })
