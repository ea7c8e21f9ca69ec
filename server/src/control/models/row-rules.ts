/** A model of the catalog as a row of the list. */
import { z } from 'zod'
import type {
  Deployment,
  EmbeddingModel,
  ImageDeployment,
  ImageModel,
  ImageSizes,
  Model,
  PixelSize,
} from '#core/catalog/catalog.ts'
import { daysLeft, type ModelEnd, type RetiredModel } from '#core/catalog/model-end.ts'
import { isOldFact, originsOf } from '#core/catalog/fact-age.ts'
import { embeddingAbilities, narrowerWidths } from '#core/options/embedding.ts'
import { imageAbilities } from '#core/options/image.ts'
import { deploymentBrief, managed, managedBody } from '../shared/model-fields.ts'
import type { ControlNode } from '../shared/node.ts'
import { priceBody, priceText } from '../shared/price-text.ts'
import { WEEK_CELLS, type Health } from './health-rules.ts'
import { modelFigures, retiredAsker, type ModelFigures, type RetiredAsker } from './queries.ts'

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
          .array(retiredAsker)
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
        contents: z
          .object({
            inputs: z.array(z.enum(['text', 'image', 'audio', 'video', 'file'])),
            fuses: z.boolean().describe('Whether it makes one vector of several parts.'),
            formats: z.array(z.string()),
            max_parts: z.int().describe('Of one input.'),
            max_images: z.int().nullable().describe('Of one call. null: no limit is known.'),
            max_part_bytes: z.int().nullable(),
            max_pixels: z.int().nullable(),
            max_seconds: z.int().nullable(),
            max_pages: z.int().nullable(),
          })
          .nullable()
          .describe('What one of its deployments takes besides texts. null: texts alone.'),
      })
      .nullable(),
    image: z
      .object({
        sizes: z.object({
          kind: z.enum(['list', 'free', 'any']),
          values: z.array(z.string()),
          default: z.string().describe('What it makes when the request names no size.'),
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
    as_of: z
      .string()
      .nullable()
      .describe('The day on which the oldest fact of the catalogue about it was read. null: there is none.'),
    is_old: z.boolean().describe('That was more than 120 days ago.'),
    ...modelFigures,
    cells: z
      .string()
      .describe(
        'The worst of each six hours of seven days: `g`ood, `w`arned, `b`ad, `q`uarantined, `.` nothing.',
      ),
  })
  .meta({ id: 'ModelRow' })

export type ModelRow = z.output<typeof modelRow>
export type AnyDeployment = Deployment | ImageDeployment

/** What a row says beside the catalog. */
export interface ModelView extends Pick<ControlNode, 'nameSpace' | 'averageItems' | 'limits'> {
  readonly health: Health
  readonly figures: ReadonlyMap<string, ModelFigures>
  readonly nowMs: number
}

const NO_REQUESTS: ModelFigures = {
  last_hour: { requests: 0, failed: 0, p95_ms: null },
  last_day: { requests: 0 },
}

export function rowBody(one: Model, view: ModelView): ModelRow {
  return {
    ...managedBody(one.managedBy),
    id: one.id,
    kind: one.kind,
    aliases: [...one.aliases],
    owned_by: one.ownedBy,
    space: one.kind === 'embedding' ? (view.nameSpace(one, one.facts.dimensions) ?? null) : null,
    retired: null,
    ends: one.end === undefined ? null : endBody(one.end, view.nowMs),
    embedding: one.kind === 'embedding' ? embeddingBody(one) : null,
    image: one.kind === 'image' ? imageBody(one, view.limits.maxEditPictures) : null,
    can: one.kind === 'embedding' ? embeddingAbilities(one, view.limits.maxInputs) : imageAbilities(one),
    deployments: one.deployments.map((deployment) => briefBody(one, deployment, view)),
    price: priceOf(one.deployments),
    ...ageOf(one.deployments, view.nowMs),
    ...(view.figures.get(one.id) ?? NO_REQUESTS),
    cells: view.health.cellsOf(one.deployments.map(({ id }) => id)),
  }
}

/** A model that is no longer served, and that keys still ask for. */
export function retiredRow({ id, on, successor }: RetiredModel, askers: readonly RetiredAsker[]): ModelRow {
  return {
    ...managedBody('built-in'),
    id,
    kind: askers[0]?.kind ?? 'embedding',
    aliases: [],
    owned_by: '',
    space: null,
    retired: {
      on,
      successor: successor ?? null,
      asked_by: askers.map(({ key, requests_7d }) => ({ key, requests_7d })),
    },
    ends: null,
    embedding: null,
    image: null,
    can: {},
    deployments: [],
    price: [],
    as_of: null,
    is_old: false,
    ...NO_REQUESTS,
    cells: '.'.repeat(WEEK_CELLS),
  }
}

export function endBody(end: ModelEnd, nowMs: number): NonNullable<ModelRow['ends']> {
  return { on: end.on, days_left: daysLeft(end, nowMs), successor: end.successor ?? null }
}

function briefBody(
  { id: model, kind }: Pick<Model, 'id' | 'kind'>,
  { id, upstream, end }: AnyDeployment,
  { health }: ModelView,
): z.output<typeof deploymentBrief> {
  return { id, model, kind, upstream: upstream.name, ...health.standingOf(id), ends_on: end?.on ?? null }
}

function ageOf(deployments: readonly AnyDeployment[], nowMs: number): Pick<ModelRow, 'as_of' | 'is_old'> {
  const days = deployments.flatMap((one) =>
    Object.values(originsOf(one)).flatMap((origin) => origin?.asOf ?? []),
  )
  const [oldest] = days.sort()
  return { as_of: oldest ?? null, is_old: isOldFact(oldest, nowMs) }
}

/** The first known price. Where it is free, its note names the first price that is not. */
function priceOf(deployments: readonly AnyDeployment[]): ModelRow['price'] {
  const priced = deployments.find(({ price }) => price.kind !== 'unpriced') ?? deployments[0]
  if (priced?.price.kind !== 'free') return priced === undefined ? [] : priceBody(priced.price)
  const paid = deployments.find(({ price }) => price.kind !== 'unpriced' && price.kind !== 'free')
  const [first] = paid === undefined ? [] : priceBody(paid.price)
  const note = paid === undefined || first === undefined ? null : `${paid.upstream.name} ${first.amount}`
  return [{ amount: '0', unit: 'free', note }]
}

function embeddingBody(one: EmbeddingModel): NonNullable<ModelRow['embedding']> {
  const narrower = narrowerWidths(one)
  return {
    width: one.facts.dimensions,
    narrower: typeof narrower === 'string' ? narrower : [...narrower],
    max_input_tokens: one.facts.maxInputTokens ?? null,
    max_inputs: Math.max(1, ...one.deployments.map(({ capabilities }) => capabilities.maxInputs)),
    contents: contentsBody(one),
  }
}

/** The deployment that takes the most kinds of parts. */
function contentsBody({ deployments }: EmbeddingModel): NonNullable<ModelRow['embedding']>['contents'] {
  const [most] = deployments
    .flatMap(({ capabilities }) => capabilities.contents ?? [])
    .toSorted((a, b) => b.inputs.length - a.inputs.length)
  if (most === undefined) return null
  return {
    inputs: [...most.inputs],
    fuses: most.fuses,
    formats: [...most.formats],
    max_parts: most.maxParts,
    max_images: most.maxImages ?? null,
    max_part_bytes: most.maxPartBytes ?? null,
    max_pixels: most.maxPixels ?? null,
    max_seconds: most.maxSeconds ?? null,
    max_pages: most.maxPages ?? null,
  }
}

function imageBody({ deployments }: ImageModel, maxEditPictures: number): NonNullable<ModelRow['image']> {
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

/** Bounds say more than a list, and a list more than `any`. */
function sizesBody(all: readonly ImageSizes[]): NonNullable<ModelRow['image']>['sizes'] {
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
