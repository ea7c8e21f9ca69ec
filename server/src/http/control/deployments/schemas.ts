/** Deployments as the control API shows them. */
import { z } from 'zod'
import { deploymentBrief, managed } from '../models/schemas.ts'
import { cursor, givenTime, givenUsd, storable, time, usd } from '../wire/fields.ts'
import { priceText } from '../wire/price-text.ts'

/** As long as a deployment's id may be, in a path or elsewhere. */
const MAX_NAME = 500
/** What fits into one line of the audit. */
const MAX_REASON = 500

const deploymentState = deploymentBrief.shape.state

const rate = z
  .object({ requests: z.number(), tokens: z.number(), images: z.number() })
  .describe('A second, as the mean of the last ten. Requests are calls to the upstream.')

export const deployment = deploymentBrief
  .extend({
    ...managed,
    kind: z.enum(['embedding', 'image']),
    space_id: z.string().nullable().describe('The space of its model. null: it has none.'),
    upstream_model: z.string(),
    priority: z.number(),
    weight: z.number(),
    stands_in: z.boolean().describe('Deployments of a lower priority number are asked first.'),
    reason: z.string().nullable(),
    drained: z.object({ by: z.string(), reason: z.string(), at: time }).nullable(),
    nodes: z.array(
      z.object({
        node: z.string(),
        state: deploymentState,
        in_flight: z.int(),
        limit: z.int().nullable(),
      }),
    ),
    in_flight: z.int(),
    limit: z
      .int()
      .nullable()
      .describe('Calls at once. null: there is no limit, or nobody has called it yet.'),
    limit_is_learnt: z.boolean(),
    limits: z
      .array(
        z.object({
          name: z.enum(['requests', 'tokens', 'images']),
          used: z.number().describe('At the rate of the last ten seconds.'),
          of: z.number(),
        }),
      )
      .describe('A minute, for all nodes together.'),
    rate,
    p50_ms: z.number().nullable().describe('Of the last 15 minutes, as are the figures below.'),
    p95_ms: z.number().nullable(),
    calls: z.int(),
    failed_share: z.number(),
    failures: z.record(z.string(), z.int()),
    space: z
      .object({
        state: z.enum(['trusted', 'warned', 'held-back', 'quarantined', 'unguarded']),
        least_cosine: z.number().nullable(),
        last_good_at: time.nullable(),
      })
      .nullable(),
    price: z.array(priceText),
    cells: z
      .string()
      .describe(
        'The worst of each half hour of a day, oldest first: `g`ood, `w`arned, `b`ad, `q`uarantined, `.` nothing.',
      ),
  })
  .meta({ id: 'Deployment' })

/** The answer to a drain, built from what was committed: the last day comes from the history, which may be busy. */
export const drainedDeployment = deployment.omit({ cells: true }).meta({ id: 'DrainedDeployment' })

export const deploymentList = z
  .object({
    data: z.array(deployment),
    has_more: z.boolean(),
    next: cursor,
    nodes: z
      .object({ reporting: z.int(), alive: z.int() })
      .describe('How many nodes told of their deployments in the last seconds.'),
  })
  .meta({ id: 'DeploymentList' })

export const deploymentPath = z.object({
  id: storable(MAX_NAME).min(1).describe('`/` is written `%2F`.'),
})

export const historyQuery = z.object({
  since: givenTime.optional().describe('Default: a day ago. Two weeks are kept.'),
})

export const deploymentHistory = z
  .object({
    slot_seconds: z.int(),
    data: z.array(
      z.object({
        at: time,
        worst: deploymentState,
        requests: z.int(),
        failed: z.int(),
        p95_ms: z.number().nullable(),
        in_flight: z.int(),
        limit: z.number().nullable(),
      }),
    ),
    events: z
      .array(z.object({ at: time, state: deploymentState, reason: z.string() }))
      .describe('Newest first.'),
  })
  .meta({ id: 'DeploymentHistory' })

export const draining = z
  .strictObject({ drained: z.boolean(), reason: storable(MAX_REASON).trim().min(1) })
  .meta({ id: 'Draining' })

export const testing = z
  .strictObject({
    max_usd: givenUsd
      .nullable()
      .default(null)
      .describe('The test is refused when it could cost more. null: it may cost what it costs.'),
  })
  .meta({ id: 'DeploymentTest' })

export const tested = z
  .object({
    outcome: z.string().describe('`ok`, or the code of the fault.'),
    status: z.int().nullable().describe('Of the upstream. null: it answered, or there was no answer.'),
    reason: z.string().nullable(),
    duration_ms: z.number(),
    cost_usd: usd.nullable(),
    request_id: z.string(),
  })
  .meta({ id: 'Tested' })
