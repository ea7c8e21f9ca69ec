/** What another catalogue would change: facts by their source, and what follows for the deployments in use. */
import type { ImagePrice, Price } from '../money/price.ts'
import { priceFormOf } from '../money/price-form.ts'
import { canonicalText } from './document.ts'
import {
  listModels,
  type Catalog,
  type Deployment,
  type EmbeddingModel,
  type Model,
} from '../catalog/catalog.ts'

/** Facts that are read together, from one source on one day. */
export type FactGroup = 'facts' | 'wire' | 'price' | 'end' | 'retired'

export interface FactChange {
  readonly provider: string
  /** Undefined: what its wire has for all models. */
  readonly model: string | undefined
  readonly group: FactGroup
  /** In the form of `server/catalog/`. Undefined: there was none. */
  readonly before: unknown
  /** Undefined: there is none any more. */
  readonly after: unknown
  readonly source: string | undefined
  readonly asOf: string | undefined
}

/** A fact that decides vectors. */
export interface VectorChange {
  readonly model: string
  /** Undefined: it holds for all its deployments. */
  readonly deployment: string | undefined
  readonly fact: string
  readonly before: unknown
  readonly after: unknown
}

export interface PriceChange {
  readonly model: string
  readonly kind: Model['kind']
  readonly deployment: string
  readonly before: Price | ImagePrice
  readonly after: Price | ImagePrice
  /** Whether it also embeds images, audio, video or files, which have other prices than text. */
  readonly takesContents: boolean
}

/** What would happen to the deployments in use. */
export interface FeedEffects {
  readonly vectorChanges: readonly VectorChange[]
  readonly priceChanges: readonly PriceChange[]
  /** Models that would no longer be served. */
  readonly lostModels: readonly string[]
}

export function effectsOf(before: Catalog, after: Catalog): FeedEffects {
  const models = listModels(before)
  return {
    vectorChanges: models.flatMap((model) => {
      const next = after.models.get(model.id)
      return model.kind === 'embedding' && next?.kind === 'embedding' ? vectorChanges(model, next) : []
    }),
    priceChanges: models.flatMap((model) => priceChanges(model, after.models.get(model.id))),
    lostModels: models.filter(({ id }) => !after.models.has(id)).map(({ id }) => id),
  }
}

/** Of a model: what callers' texts become before they are embedded, and the width of what comes back. */
const MODEL_FACTS = ['dimensions', 'inputType', 'tokenizer', 'matryoshka', 'binary'] as const
/**
 * Of a deployment: which model answers, by which wire, and who shortens, scales and converts. A field that is listed as harmless
 * no longer takes the name of its space from an answer.
 */
const WIRE_FACTS = [
  'dimensions',
  'dimensionsField',
  'unitDimensions',
  'outputTypes',
  'outputTypeField',
  'contents',
  'harmlessFields',
] as const

function vectorChanges(before: EmbeddingModel, after: EmbeddingModel): VectorChange[] {
  const ofModel = MODEL_FACTS.flatMap((fact) =>
    changed({ model: before.id, deployment: undefined, fact }, before.facts[fact], after.facts[fact]),
  )
  const ofDeployments = before.deployments.flatMap((one) => {
    const next = after.deployments.find(({ id }) => id === one.id)
    return next === undefined ? [] : deploymentChanges(before.id, one, next)
  })
  return [...ofModel, ...ofDeployments]
}

function deploymentChanges(model: string, before: Deployment, after: Deployment): VectorChange[] {
  const of = (fact: string) => ({ model, deployment: before.id, fact })
  return [
    ...changed(of('upstreamModel'), before.upstreamModel, after.upstreamModel),
    ...changed(of('dialect'), before.upstream.dialect, after.upstream.dialect),
    ...WIRE_FACTS.flatMap((fact) => changed(of(fact), before.capabilities[fact], after.capabilities[fact])),
  ]
}

function changed(
  of: Pick<VectorChange, 'model' | 'deployment' | 'fact'>,
  before: unknown,
  after: unknown,
): VectorChange[] {
  return canonicalText(before ?? null) === canonicalText(after ?? null) ? [] : [{ ...of, before, after }]
}

function priceChanges(before: Model, after: Model | undefined): PriceChange[] {
  return before.deployments.flatMap((one: Model['deployments'][number]) => {
    const next = after?.deployments.find((other: { readonly id: string }) => other.id === one.id)
    if (
      next === undefined ||
      canonicalText(priceFormOf(one.price)) === canonicalText(priceFormOf(next.price))
    )
      return []
    const takesContents = 'contents' in one.capabilities && one.capabilities.contents !== undefined
    return [
      {
        model: before.id,
        kind: before.kind,
        deployment: one.id,
        before: one.price,
        after: next.price,
        takesContents,
      },
    ]
  })
}
