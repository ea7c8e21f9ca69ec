/** What is going on now, as schemas. */
import { z } from 'zod'
import { deploymentBrief } from '../models/schemas.ts'
import { givenTime, storable, time, usd } from '../wire/fields.ts'

const nodes = z
  .object({ reporting: z.int(), alive: z.int() })
  .describe('How many nodes told what they know in the last seconds.')

const flow = z
  .object({
    key: z.string(),
    model: z.string(),
    deployment: z.string().nullable().describe('null: answered from the cache.'),
    requests: z.number(),
    failed: z.number(),
    tokens: z.number(),
    images: z.number(),
    usd,
    p95_ms: z.number().nullable(),
  })
  .describe('A second, as the mean of the last ten.')
  .meta({ id: 'Flow' })

const minute = z
  .object({
    at: time,
    answered: z.int(),
    refused: z.int(),
    limited: z.int(),
    failed: z.int(),
    unknown: z.int(),
    p50_ms: z.number().nullable(),
    p95_ms: z.number().nullable(),
    p99_ms: z.number().nullable(),
    own_p95_ms: z.number().nullable().describe('Torana’s own part.'),
    inputs: z.int().describe('Of models with a cache.'),
    hits: z.int(),
    spent_usd: usd,
  })
  .meta({ id: 'Minute' })

const ATTENTION_KINDS = [
  'deployment_ejected',
  'deployment_rejected_us',
  'space_left',
  'space_warned',
  'unknowns_open',
  'usage_above_expected',
  'budget_mark',
  'budget_used_up',
  'unpriced_refused',
  'model_retired_used',
  'model_ends',
  'key_idle',
  'key_ends',
  'node_silent',
  'spool_waiting',
  'store_away',
  'doctor_wrong',
  'webhook_given_up',
  'partition_missing',
  'labels_overflowed',
] as const

export const attention = z
  .object({
    id: z.string(),
    kind: z.enum(ATTENTION_KINDS),
    severity: z.enum(['bad', 'odd', 'warn', 'off']),
    since: time,
    subject: z.object({
      type: z.enum(['deployment', 'model', 'key', 'budget', 'node', 'store', 'unknowns', 'project']),
      id: z.string(),
    }),
    figures: z.record(z.string(), z.union([z.string(), z.number()])),
  })
  .describe('What a person should look at. The words are made of `kind` and `figures`.')
  .meta({ id: 'Attention' })

export const overview = z
  .object({
    at: time,
    nodes,
    flows: z.array(flow),
    deployments: z.array(deploymentBrief).describe('Empty for those who may not see deployments.'),
    attention: z.array(attention).describe('The worst first.'),
    series: z.object({ slot_seconds: z.int(), data: z.array(minute) }),
    today: z.object({
      spent_usd: usd,
      pace_usd: usd.nullable().describe('What all budgets of projects allow for a day. null: there is none.'),
      forecast_usd: usd.nullable().describe('At the pace of today. null: the day is too young.'),
      saved_usd: usd,
    }),
  })
  .meta({ id: 'Overview' })

export const overviewQuery = z.object({
  since: givenTime.optional().describe('Default: an hour ago. A month is kept.'),
  project: storable(200).optional(),
})
