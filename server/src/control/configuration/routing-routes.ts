/** Where the calls of one model go: its deployments with state, share and price, and the entry that can be changed. */
import { z } from 'zod'
import type { Deployment, ImageDeployment, Model } from '#core/catalog/catalog.ts'
import { priceFormOf } from '#core/money/price-form.ts'
import { standingsOf, type DeploymentStanding } from '#core/traffic/node-summary.ts'
import type { StoredObject } from '#ports/stored-configuration.ts'
import { deploymentsIn, storedIndexes } from '../shared/configuration-change.ts'
import { notFound } from '../shared/faults.ts'
import { storable } from '../shared/fields.ts'
import { deploymentBrief, source, sourceBody } from '../shared/model-fields.ts'
import type { ControlNode } from '../shared/node.ts'
import { priceBody, priceText } from '../shared/price-text.ts'
import { route, type Api } from '../shared/route.ts'
import { openSkippedFor, skippedFor } from '../shared/skipping-keys-queries.ts'
import { callsOf } from './queries.ts'

const limit = z.int().nullable()

const routedDeployment = z
  .object({
    id: z.string(),
    upstream: z.string(),
    upstream_model: z.string().describe("The upstream's name of the model."),
    priority: z.int().describe('Tier n of the console is priority n − 1.'),
    weight: z.number(),
    limits: z.object({
      concurrency: limit,
      min_concurrency: limit,
      learns_concurrency: z.boolean(),
      requests_per_minute: limit,
      tokens_per_minute: limit,
      images_per_minute: limit,
    }),
    price: z.union([z.string(), z.record(z.string(), z.unknown())]).describe('As `price` in torana.yaml.'),
    price_text: z.array(priceText),
    price_from: z.enum(['configuration', 'store', 'catalog', 'none']),
    list_price: z
      .array(priceText)
      .describe(
        'What it costs when its entry has no price: the price of the model, else that of the catalogue.',
      ),
    index: z
      .int()
      .nullable()
      .describe('Its place in `entry.deployments`. null: it is declared, and can not be changed here.'),
    p95_ms: z.number().nullable().describe('Of the last 15 minutes.'),
    state: deploymentBrief.shape.state,
    skipped_for: skippedFor,
    share_24h: z.number().nullable().describe('0 to 1: of the calls of the model. null: there were none.'),
    source,
  })
  .meta({ id: 'RoutedDeployment' })

const routing = z
  .object({
    model: z.string(),
    kind: z.enum(['embedding', 'image']),
    space: z.string().nullable(),
    revision: z
      .string()
      .nullable()
      .describe('Of the object in the store, for `base` of a change. null: there is none.'),
    source,
    entry: z
      .record(z.string(), z.unknown())
      .nullable()
      .describe(
        'The object in the store, as in torana.yaml. Of a declared model: the deployments that are added to it.',
      ),
    deployments: z.array(routedDeployment),
    aliases: z.array(z.string()),
    attempt_timeout_ms: z.int().nullable(),
    default_attempt_timeout_ms: z.int(),
    cache: z.object({ ttl_ms: z.int() }).nullable(),
    micro_batch: z
      .object({ max_wait_ms: z.number(), max_items: z.int(), across_projects: z.boolean() })
      .nullable(),
    space_guard: z.boolean().nullable().describe('null: an image model.'),
  })
  .meta({ id: 'Routing' })

const routingPath = z.object({
  model: storable(400).min(1).describe('Its id or an alias; `/` is written `%2F`.'),
})

type AnyDeployment = Deployment | ImageDeployment

export function registerRouting(api: Api, node: ControlNode): void {
  const { catalog, configuration, summaries, drains, reports, clock } = node
  route(api, 'GET /routing/:model', {
    permission: 'upstreams.read',
    id: 'routingOfModel',
    summary: 'Where the calls of a model go, and what of it can be changed',
    params: routingPath,
    answer: routing,
    handler: async ({ params }) => {
      const model = catalog().models.get(params.model)
      if (model === undefined) throw notFound(`There is no model ${params.model}.`)
      const [stored, nodes, drained, calls, skipsOf] = await Promise.all([
        configuration.read(),
        summaries(),
        drains.list(),
        callsOf(reports, model.id, clock.nowMs()),
        openSkippedFor(node),
      ])
      const all: readonly AnyDeployment[] = model.deployments
      const own = stored.find((one) => one.object === 'model' && one.name === model.id)
      const listed = own && node.extendedBy(withoutPrices(stored, own)).catalog.models.get(model.id)
      const view = {
        listed: new Map(listed?.deployments.map(({ id, price }) => [id, priceBody(price)])),
        indexes: own ? storedIndexes(own.entry, model) : new Map<string, number>(),
        standings: standingsOf(nodes),
        drained: new Set(drained.map(({ deployment }) => deployment)),
        calls,
        skippedFor: skipsOf,
        sum: all.reduce((sum, { id }) => sum + (calls.get(id) ?? 0), 0),
      }
      return {
        ...modelBody(model, node),
        ...storedBody(own),
        deployments: all.map((one) => deploymentBody(model, one, view)),
      }
    },
  })
}

function withoutPrices(stored: readonly StoredObject[], own: StoredObject): readonly StoredObject[] {
  const deployments = deploymentsIn(own.entry).map(({ price: _price, ...one }) => one)
  return stored.map((one) => (one === own ? { ...own, entry: { ...own.entry, deployments } } : one))
}

function storedBody(stored: StoredObject | undefined) {
  return { revision: stored ? String(stored.revision) : null, entry: stored ? { ...stored.entry } : null }
}

function modelBody(model: Model, { limits, nameSpace }: ControlNode) {
  const own = model.kind === 'embedding' ? model : undefined
  return {
    model: model.id,
    kind: model.kind,
    space: (own && nameSpace(own, own.facts.dimensions)) ?? null,
    source: sourceBody(model.managedBy, model.deployments[0]?.upstream.name ?? ''),
    aliases: [...model.aliases],
    attempt_timeout_ms: own?.attemptTimeoutMs ?? null,
    default_attempt_timeout_ms: own === undefined ? limits.imageTimeoutMs : limits.attemptTimeoutMs,
    cache: own?.cache ? { ttl_ms: own.cache.ttlMs } : null,
    micro_batch: own?.microBatch
      ? {
          max_wait_ms: own.microBatch.maxWaitMs,
          max_items: own.microBatch.maxItems,
          across_projects: own.microBatch.acrossProjects,
        }
      : null,
    space_guard: own?.isGuarded ?? null,
  }
}

function deploymentBody(
  model: Model,
  one: AnyDeployment,
  view: {
    readonly standings: ReadonlyMap<string, DeploymentStanding>
    readonly drained: ReadonlySet<string>
    readonly calls: ReadonlyMap<string, number>
    readonly sum: number
    readonly skippedFor: Awaited<ReturnType<typeof openSkippedFor>>
    readonly listed: ReadonlyMap<string, ReturnType<typeof priceBody>>
    readonly indexes: ReadonlyMap<string, number>
  },
): z.output<typeof routedDeployment> {
  const { id, upstream, upstreamModel, priority, weight, limits = {}, price, priceFrom } = one
  const standing = view.standings.get(id)
  return {
    id,
    upstream: upstream.name,
    upstream_model: upstreamModel,
    priority,
    weight,
    limits: {
      concurrency: limits.concurrency ?? null,
      min_concurrency: limits.minConcurrency ?? null,
      learns_concurrency: limits.learnsConcurrency ?? true,
      requests_per_minute: limits.requestsPerMinute ?? null,
      tokens_per_minute: limits.tokensPerMinute ?? null,
      images_per_minute: limits.imagesPerMinute ?? null,
    },
    price: priceFormOf(price),
    price_text: priceBody(price),
    price_from: price.kind === 'unpriced' ? 'none' : (priceFrom?.from ?? 'none'),
    list_price: view.listed.get(id) ?? [],
    index: view.indexes.get(id) ?? null,
    p95_ms: standing?.p95Ms ?? null,
    state: view.drained.has(id) ? 'drained' : (standing?.state ?? 'healthy'),
    skipped_for: view.skippedFor(model, one),
    share_24h: view.sum === 0 ? null : (view.calls.get(id) ?? 0) / view.sum,
    source: sourceBody(one.managedBy ?? model.managedBy, upstream.name),
  }
}
