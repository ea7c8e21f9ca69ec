/** One model of the catalog, with what each deployment does and who gets a call. */
import { z } from 'zod'
import type { Model } from '#core/catalog/catalog.ts'
import { embeddingOptions } from '#core/options/embedding.ts'
import { imageOptions } from '#core/options/image.ts'
import { modelUsers, type ModelUsers } from '../shared/model-users-queries.ts'
import { priceBody, priceText } from '../shared/price-text.ts'
import { cacheUse, lastUsedAt, type CacheUse, type DeploymentUse } from './queries.ts'
import { endBody, modelRow, rowBody, type AnyDeployment, type ModelView } from './row-rules.ts'

const optionCell = z.object({
  how: z.enum(['native', 'emulated', 'refused', 'value']),
  value: z.string().describe('What Torana does instead, or the figure.'),
})

export const modelDetail = modelRow
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
            last_used_at: lastUsedAt,
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
    cache: z.object({ ttl_seconds: z.int(), ...cacheUse.shape }).nullable(),
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
            .describe(
              'Where the day was read: an address, a line of torana.yaml, or the list of an upstream.',
            ),
          as_of: z.string().nullable().describe('The day on which it was read there.'),
          note: z.string().nullable(),
        }),
      )
      .describe('Deployments whose provider announced a day.'),
    used_by: modelUsers
      .nullable()
      .describe(
        'Who used it within 30 days. null: no deployment of it ends within 90 days, or nothing is kept.',
      ),
  })
  .meta({ id: 'ModelDetail' })

type ModelDetail = z.output<typeof modelDetail>

export interface ModelUse {
  readonly uses: ReadonlyMap<string, DeploymentUse>
  readonly cache: CacheUse
  /** Null: it does not end soon, so its users were not read. */
  readonly users: ModelUsers | null
}

export function detailBody(one: Model, view: ModelView, { uses, cache, users }: ModelUse): ModelDetail {
  const options = one.kind === 'embedding' ? embeddingOptions(one) : imageOptions(one)
  return {
    ...rowBody(one, view),
    options: options.map(({ group, option, byDeployment }) => ({
      group,
      option,
      by_deployment: Object.fromEntries(byDeployment),
    })),
    prices: Object.fromEntries(
      one.deployments.map((deployment: AnyDeployment) => [deployment.id, priceBody(deployment.price)]),
    ),
    tiers: tiersOf(one.deployments, uses),
    cache:
      one.kind === 'embedding' && one.cache !== undefined
        ? { ttl_seconds: Math.round(one.cache.ttlMs / 1000), ...cache }
        : null,
    micro_batch:
      one.kind === 'embedding' && one.microBatch !== undefined
        ? {
            max_wait_ms: one.microBatch.maxWaitMs,
            max_items: one.microBatch.maxItems,
            average_items: view.averageItems(one.id) ?? null,
          }
        : null,
    guarded: one.kind === 'embedding' && one.isGuarded,
    ends_by_deployment: Object.fromEntries(
      one.deployments.flatMap(({ id, end }: AnyDeployment) => {
        if (end === undefined) return []
        const { source = null, asOf = null, note = null } = end
        return [[id, { ...endBody(end, view.nowMs), source, as_of: asOf, note }]]
      }),
    ),
    used_by: users,
  }
}

function tiersOf(
  deployments: readonly AnyDeployment[],
  uses: ReadonlyMap<string, DeploymentUse>,
): ModelDetail['tiers'] {
  const calls = deployments.reduce((sum, { id }) => sum + (uses.get(id)?.calls ?? 0), 0)
  const byPriority = Map.groupBy(deployments, ({ priority }) => priority)
  return [...byPriority]
    .sort(([a], [b]) => a - b)
    .map(([, tier]) =>
      tier.map(({ id, weight, limits }) => ({
        deployment: id,
        weight,
        share: calls === 0 ? 0 : (uses.get(id)?.calls ?? 0) / calls,
        last_used_at: uses.get(id)?.last_used_at ?? null,
        limits: limitsBody(limits),
      })),
    )
}

function limitsBody(limits: AnyDeployment['limits']): ModelDetail['tiers'][number][number]['limits'] {
  const { requestsPerMinute, tokensPerMinute, imagesPerMinute, concurrency } = limits ?? {}
  return {
    ...(requestsPerMinute !== undefined && { requests_per_minute: requestsPerMinute }),
    ...(tokensPerMinute !== undefined && { tokens_per_minute: tokensPerMinute }),
    ...(imagesPerMinute !== undefined && { images_per_minute: imagesPerMinute }),
    ...(concurrency !== undefined && { concurrency }),
  }
}
