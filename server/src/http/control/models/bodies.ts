/** Models of the catalog as answers. */
import type { z } from 'zod'
import type {
  Deployment,
  EmbeddingModel,
  ImageDeployment,
  ImageModel,
  ImageSizes,
  Model,
  PixelSize,
} from '#core/catalog.ts'
import { spaceOf } from '#core/embedding/space.ts'
import { daysLeft, type ModelEnd, type RetiredModel } from '#core/model-end.ts'
import { embeddingAbilities, embeddingOptions, narrowerWidths } from '#core/options/embedding.ts'
import { imageAbilities, imageOptions } from '#core/options/image.ts'
import { decimalOf } from '#core/price.ts'
import type { CacheUse, DeploymentUse, ModelFigure, ModelUsers, RetiredAsker } from '#ports/model-figures.ts'
import { priceBody } from '../wire/price-text.ts'
import { isoOf, timeOf } from '../wire/times.ts'
import { WEEK_CELLS, type Health } from './health.ts'
import type { deploymentBrief, managed, model, modelRow } from './schemas.ts'

type Row = z.output<typeof modelRow>
type Body = z.output<typeof model>
type AnyDeployment = Deployment | ImageDeployment

export interface ModelView {
  readonly health: Health
  /** The generation of a model's space. Undefined: this node does not know it yet. */
  readonly generationOf: (model: string) => number | undefined
  /** What one request may hold. */
  readonly limits: { readonly maxInputs: number; readonly maxEditPictures: number }
  readonly figures: ReadonlyMap<string, ModelFigure> | undefined
  /** On average, of the calls of this node. Undefined: there were none. */
  readonly averageItems: (model: string) => number | undefined
  readonly nowMs: () => number
}

const QUIET: ModelFigure = {
  lastHour: { requests: 0, failed: 0, p95Ms: undefined },
  lastDay: { requests: 0 },
}

export function rowBody(one: Model, view: ModelView): Row {
  const { lastHour, lastDay } = view.figures?.get(one.id) ?? QUIET
  const generation = one.kind === 'embedding' ? view.generationOf(one.id) : undefined
  return {
    ...managedBody(one.managedBy),
    id: one.id,
    kind: one.kind,
    aliases: [...one.aliases],
    owned_by: one.ownedBy,
    space:
      one.kind === 'embedding' && generation !== undefined
        ? spaceOf(one.id, one.facts.dimensions, generation)
        : null,
    retired: null,
    ends: one.end === undefined ? null : endBody(one.end, view.nowMs()),
    embedding: one.kind === 'embedding' ? embeddingBody(one) : null,
    image: one.kind === 'image' ? imageBody(one, view.limits.maxEditPictures) : null,
    can: one.kind === 'embedding' ? embeddingAbilities(one, view.limits.maxInputs) : imageAbilities(one),
    deployments: one.deployments.map((deployment) => briefBody(one, deployment, view)),
    price: priceOf(one.deployments),
    last_hour: {
      requests: lastHour.requests,
      failed: lastHour.failed,
      p95_ms: lastHour.p95Ms ?? null,
    },
    last_day: lastDay,
    cells: view.health.cellsOf(one.deployments.map(({ id }) => id)),
  }
}

/** A model that is no longer served, and yet asked for. */
export function retiredRow({ id, on, successor }: RetiredModel, askedBy: readonly RetiredAsker[]): Row {
  return {
    ...managedBody('built-in'),
    id,
    kind: askedBy[0]?.kind ?? 'embedding',
    aliases: [],
    owned_by: '',
    space: null,
    retired: {
      on,
      successor: successor ?? null,
      asked_by: askedBy.map(({ key, requests }) => ({ key, requests_7d: requests })),
    },
    ends: null,
    embedding: null,
    image: null,
    can: {},
    deployments: [],
    price: [],
    last_hour: { requests: 0, failed: 0, p95_ms: null },
    last_day: { requests: 0 },
    cells: '.'.repeat(WEEK_CELLS),
  }
}

function endBody(end: ModelEnd, nowMs: number): NonNullable<Row['ends']> {
  return { on: end.on, days_left: daysLeft(end, nowMs), successor: end.successor ?? null }
}

export interface ModelUse {
  readonly uses: ReadonlyMap<string, DeploymentUse> | undefined
  readonly cache: CacheUse | undefined
  /** Undefined: nobody asked, since it does not end soon. */
  readonly users: ModelUsers | undefined
}

export function modelBody(one: Model, view: ModelView, { uses, cache, users }: ModelUse): Body {
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
        ? {
            ttl_seconds: Math.round(one.cache.ttlMs / 1000),
            hits_share: cache?.hitsShare ?? 0,
            saved_usd: decimalOf(cache?.savedNanoUsd ?? 0n),
          }
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
      one.deployments.flatMap(({ id, end }: AnyDeployment) =>
        end === undefined
          ? []
          : [
              [
                id,
                {
                  ...endBody(end, view.nowMs()),
                  source: end.source ?? null,
                  as_of: end.asOf ?? null,
                  note: end.note ?? null,
                },
              ],
            ],
      ),
    ),
    used_by: users
      ? {
          keys: users.keys.map(({ key, requests }) => ({ key, requests_30d: requests })),
          count: users.count,
        }
      : null,
  }
}

/** `torana.yaml:14`, `built-in` or `store`, as a model says it of itself. */
export function managedBody(managedBy: string): {
  [Field in keyof typeof managed]: z.output<(typeof managed)[Field]>
} {
  if (managedBy === 'store' || managedBy === 'built-in') return { managed_by: managedBy, managed_at: null }
  return { managed_by: 'configuration', managed_at: managedBy }
}

function briefBody(
  { id: model, kind }: Pick<Model, 'id' | 'kind'>,
  { id, upstream, end }: AnyDeployment,
  { health }: ModelView,
): z.output<typeof deploymentBrief> {
  const { state, untilMs, sinceMs } = health.standingOf(id)
  const times = { until: timeOf(untilMs), since: isoOf(sinceMs), ends_on: end?.on ?? null }
  return { id, model, kind, upstream: upstream.name, state, ...times }
}

/** The first that says anything: a free one before it is told as free. */
function priceOf(deployments: readonly AnyDeployment[]): Row['price'] {
  const priced = deployments.find(({ price }) => price.kind !== 'unpriced') ?? deployments[0]
  if (priced?.price.kind !== 'free') return priced === undefined ? [] : priceBody(priced.price)
  const paid = deployments.find(({ price }) => price.kind !== 'unpriced' && price.kind !== 'free')
  const [first] = paid === undefined ? [] : priceBody(paid.price)
  const note = paid === undefined || first === undefined ? null : `${paid.upstream.name} ${first.amount}`
  return [{ amount: '0', unit: 'free', note }]
}

function embeddingBody(one: EmbeddingModel): NonNullable<Row['embedding']> {
  const narrower = narrowerWidths(one)
  return {
    width: one.facts.dimensions,
    narrower: typeof narrower === 'string' ? narrower : [...narrower],
    max_input_tokens: one.facts.maxInputTokens ?? null,
    max_inputs: Math.max(1, ...one.deployments.map(({ capabilities }) => capabilities.maxInputs)),
  }
}

function imageBody({ deployments }: ImageModel, maxEditPictures: number): NonNullable<Row['image']> {
  const all = deployments.map(({ capabilities }) => capabilities)
  const union = (lists: readonly (readonly string[])[]) => [...new Set(lists.flat())]
  return {
    sizes: sizesBody(all.map(({ sizes }) => sizes)),
    max_given: Math.min(maxEditPictures, Math.max(0, ...all.map(({ edits }) => edits?.maxInputs ?? 0))),
    max_given_bytes: Math.max(0, ...all.map(({ edits }) => edits?.maxFileBytes ?? 0)),
    max_per_call: Math.max(1, ...all.map(({ maxImages }) => maxImages)),
    previews: Math.max(0, ...all.map(({ stream, maxPartialImages }) => (stream ? maxPartialImages : 0))),
    qualities: union(all.map(({ qualities }) => qualities)),
    formats: union(all.map(({ formats }) => formats)),
  }
}

/** Bounds say more than a list, and a list says more than `any`. */
function sizesBody(all: readonly ImageSizes[]): NonNullable<Row['image']>['sizes'] {
  const free = all.find((sizes) => sizes.kind === 'free')
  if (free)
    return {
      kind: 'free',
      values: [],
      default: sizeText(free.default),
      multiple_of: free.multipleOf,
      min_pixels: free.minPixels,
      max_pixels: free.maxPixels,
      max_edge: free.maxEdge,
      max_ratio: free.maxRatio >= free.maxEdge ? null : free.maxRatio,
    }
  const listed = all.flatMap((sizes) => (sizes.kind === 'list' ? sizes.values : []))
  const sizes = listed.length > 0 ? listed : all.flatMap((one) => (one.kind === 'any' ? [one.default] : []))
  return {
    kind: listed.length > 0 ? 'list' : 'any',
    values: [...new Set(listed.map(sizeText))],
    default: sizes[0] === undefined ? 'auto' : sizeText(sizes[0]),
    multiple_of: null,
    min_pixels: null,
    max_edge: null,
    max_pixels: Math.max(0, ...sizes.map(({ width, height }) => width * height)),
    max_ratio: null,
  }
}

function sizeText({ width, height }: PixelSize): string {
  return `${width}x${height}`
}

function tiersOf(
  deployments: readonly AnyDeployment[],
  uses: ReadonlyMap<string, DeploymentUse> | undefined,
): Body['tiers'] {
  const calls = deployments.reduce((sum, { id }) => sum + (uses?.get(id)?.calls ?? 0), 0)
  const byPriority = Map.groupBy(deployments, ({ priority }) => priority)
  return [...byPriority]
    .sort(([a], [b]) => a - b)
    .map(([, tier]) =>
      tier.map(({ id, weight, limits }) => ({
        deployment: id,
        weight,
        share: calls === 0 ? 0 : (uses?.get(id)?.calls ?? 0) / calls,
        last_used_at: timeOf(uses?.get(id)?.lastUsedAtMs),
        limits: limitsBody(limits),
      })),
    )
}

function limitsBody(limits: AnyDeployment['limits']): Body['tiers'][number][number]['limits'] {
  const { requestsPerMinute, tokensPerMinute, imagesPerMinute, concurrency } = limits ?? {}
  return {
    ...(requestsPerMinute !== undefined && { requests_per_minute: requestsPerMinute }),
    ...(tokensPerMinute !== undefined && { tokens_per_minute: tokensPerMinute }),
    ...(imagesPerMinute !== undefined && { images_per_minute: imagesPerMinute }),
    ...(concurrency !== undefined && { concurrency }),
  }
}
