/** An entry of `models` → a model of the catalog, of the kind that its facts or the entry itself say. */
import type { z } from 'zod'
import type { EmbeddingModel, ImageModel, Model, Upstream } from '#core/catalog/catalog.ts'
import { lastEnd, type ModelEnd } from '#core/catalog/model-end.ts'
import type { PriceFrom } from '#core/money/price.ts'
import type { UpstreamByKind } from './upstream.ts'
import { endOf, knownEnd, retirementOf, unknownWords } from './ends.ts'
import { reportContents } from './contents.ts'
import { factsOf, modelFactsOf, priceOriginOf } from './facts.ts'
import type { Facts, ModelFacts, ProviderFacts } from './facts.ts'
import { capabilities, imageCapabilities } from '../schema/model.ts'
import { embeddingPrice, imagePrice } from '../schema/price.ts'
import type { AnyPriceFields } from '../schema/price.ts'
import { didYouMean } from '../file/problem.ts'
import type { Path, Report } from '../file/problem.ts'
import {
  resolveCapabilities,
  resolveEmbedding,
  resolveImage,
  resolveImageCapabilities,
  resolveImagePrice,
  resolvePrice,
} from './resolve.ts'
import type { DeploymentEntry, ModelEntry } from '../schema/schema.ts'

type Kind = Model['kind']
type FactsOfKind<OneKind extends Kind> = Extract<ModelFacts, { readonly kind: OneKind }>

export interface ModelSurroundings {
  readonly upstreams: ReadonlyMap<string, UpstreamByKind>
  /** Names of upstreams, also of faulty ones. */
  readonly declaredUpstreams: readonly string[]
  readonly facts: Facts
  readonly report: Report
}

/** The inputs for building one entry. */
interface Parts extends ModelSurroundings {
  readonly id: string
  readonly factsId: string
  readonly entry: ModelEntry
}

/** Undefined when the entry is incomplete; the report names what is missing. */
export function buildModel(
  id: string,
  entry: ModelEntry,
  surroundings: ModelSurroundings,
): Model | undefined {
  const { facts, report } = surroundings
  const path = ['models', id]
  const wasBroken = report.isBroken(path)
  const factsId = entry.facts ?? id
  const known = modelFactsOf(facts, factsId)
  const parts: Parts = { ...surroundings, id, factsId, entry }
  const retired = known || entry.kind !== undefined ? undefined : retirementOf(parts)
  if (entry.facts !== undefined && !known && retired?.isEverywhere !== true) {
    report.problem([...path, 'facts'], unknownWords(entry.facts, retired, facts))
  }
  const model = modelOfKind(known, parts)
  if (!model && !wasBroken && !report.isBroken([...path, 'facts']) && !report.isBroken([...path, 'kind'])) {
    // An upgrade of Torana may bring the news of a shutdown. It must not keep the node from starting.
    if (retired?.isEverywhere === true)
      report.warning(
        path,
        `${retired.words} It is left out, and callers get 404 model_retired. If the upstream still has it, write its kind and what it can do`,
      )
    else
      report.problem(
        path,
        `${unknownWords(factsId, retired, facts)} For a model of your own write ` +
          'kind: embedding and embedding: { dimensions: <width of its vectors> }, or kind: image',
        'key',
      )
  }
  return model
}

function modelOfKind(known: ModelFacts | undefined, parts: Parts): Model | undefined {
  const { entry, report, id, factsId } = parts
  const kind = known?.kind ?? entry.kind
  if (known && entry.kind !== undefined && entry.kind !== known.kind) {
    report.problem(
      ['models', id, 'kind'],
      `the built-in facts know ${factsId} as an ${known.kind} model: remove this, or use another id`,
    )
    return undefined
  }
  if (kind !== undefined) reportOtherKind(kind, parts)
  if (kind === 'embedding') return embeddingModel(isOfKind(known, kind) ? known : undefined, parts)
  if (kind === 'image') return imageModel(isOfKind(known, kind) ? known : undefined, parts)
  // Whatever its kind, its deployments may name upstreams that do not exist.
  placesOf('embedding', parts)
  return undefined
}

function embeddingModel(
  known: FactsOfKind<'embedding'> | undefined,
  parts: Parts,
): EmbeddingModel | undefined {
  const { id, entry } = parts
  const price = readPrice(embeddingPrice, entry.price, ['models', id, 'price'], parts)
  const places = placesOf('embedding', parts)
  const deployments = places.map(({ path, item, provider, own, place }) => ({
    ...place,
    capabilities: resolveCapabilities([provider?.capabilities, own?.capabilities, item.capabilities]),
    price: resolvePrice([
      readPrice(embeddingPrice, item.price, [...path, 'price'], parts),
      price,
      own?.price,
    ]),
    ...priceFromOf(item.price, path, own, parts),
  }))
  const takesTokenArrays = deployments.some((deployment) => deployment.capabilities.tokenArrays)
  const facts = resolveEmbedding([known?.embedding, entry.embedding], takesTokenArrays)
  if (!facts) return undefined
  places.forEach(({ path }, index) => {
    const { capabilities } = deployments[index] as (typeof deployments)[number]
    reportContents(capabilities, facts, path, parts.report)
  })
  const { cache, microBatch, space, spaceGuard, attemptTimeoutMs } = entry
  return {
    ...commonTo(parts, deployments),
    kind: 'embedding',
    facts,
    deployments,
    cache: cache && { ttlMs: cache.ttl },
    microBatch,
    ...(attemptTimeoutMs !== undefined && { attemptTimeoutMs }),
    isGuarded: spaceGuard ?? true,
    ...(space !== undefined && { space }),
  }
}

function imageModel(known: FactsOfKind<'image'> | undefined, parts: Parts): ImageModel {
  const { id, entry } = parts
  const price = readPrice(imagePrice, entry.price, ['models', id, 'price'], parts)
  const deployments = placesOf('image', parts).map(({ path, item, provider, own, place }) => ({
    ...place,
    capabilities: resolveImageCapabilities([
      provider?.imageCapabilities,
      own?.capabilities,
      item.capabilities,
    ]),
    price: resolveImagePrice([
      readPrice(imagePrice, item.price, [...path, 'price'], parts),
      price,
      own?.price,
    ]),
    ...priceFromOf(item.price, path, own, parts),
  }))
  const facts = resolveImage([known?.image, entry.image])
  return { ...commonTo(parts, deployments), kind: 'image', facts, deployments }
}

function commonTo(
  { id, entry, report }: Parts,
  deployments: readonly { readonly upstream: Upstream; readonly end?: ModelEnd }[],
) {
  const end = lastEnd(deployments)
  return {
    id,
    ...(end && { end }),
    aliases: entry.aliases,
    ownedBy: deployments[0]?.upstream.provider ?? deployments[0]?.upstream.name ?? 'torana',
    unsupported: entry.unsupported,
    unknownFields: passedFields(entry.unknownFields),
    managedBy: report.place(['models', id]),
  }
}

/** Undefined: all. */
function passedFields(rule: ModelEntry['unknownFields']): readonly string[] | undefined {
  if (rule === undefined || rule === 'pass') return undefined
  return rule === 'refuse' ? [] : rule
}

/** Where a deployment runs, with the facts about it. */
interface Place<OneKind extends Kind> {
  readonly path: Path
  readonly item: DeploymentEntry
  readonly provider: ProviderFacts | undefined
  /** The provider's facts about the model. */
  readonly own: FactsOfKind<OneKind> | undefined
  readonly place: {
    readonly id: string
    readonly upstream: Upstream
    readonly upstreamModel: string
    readonly priority: number
    readonly weight: number
    readonly limits: DeploymentEntry['limits']
    readonly factsFrom?: ProviderFacts['factSource']
    readonly end?: ModelEnd
    readonly answersAs?: readonly string[]
    readonly managedBy: string
  }
}

function placesOf<OneKind extends Kind>(kind: OneKind, parts: Parts): Place<OneKind>[] {
  const { id, factsId, entry, upstreams, declaredUpstreams, facts, report } = parts
  const used = Map.groupBy(entry.deployments, ({ upstream }) => upstream)
  const ids = new Set<string>()
  return entry.deployments.flatMap((item, index) => {
    const path = ['models', id, 'deployments', index]
    const upstream = upstreams.get(item.upstream)?.[kind]
    if (!upstream) {
      if (!declaredUpstreams.includes(item.upstream)) {
        report.problem(
          [...path, 'upstream'],
          `there is no upstream ${item.upstream}.${didYouMean(item.upstream, declaredUpstreams)}`,
        )
      }
      return []
    }
    const provider = facts.get(upstream.provider ?? '')
    const found = factsOf(provider, factsId)
    const own = isOfKind(found?.facts, kind) ? found.facts : undefined
    const upstreamModel = item.model ?? own?.upstreamModel ?? found?.id ?? id
    const several = (used.get(item.upstream)?.length ?? 0) > 1
    const deploymentId = `${id}/${item.upstream}${several ? `/${upstreamModel}` : ''}`
    if (ids.has(deploymentId))
      report.problem(
        path,
        `deploys ${upstreamModel} on ${item.upstream} twice: use weight to give it a larger share`,
      )
    ids.add(deploymentId)
    const { priority, weight, limits, answersAs = own?.answersAs } = item
    const factsFrom = own?.factSource ?? provider?.factSource
    return [
      {
        path,
        item,
        provider,
        own,
        place: {
          id: deploymentId,
          upstream,
          upstreamModel,
          priority,
          weight,
          limits,
          managedBy: report.place(path),
          ...(factsFrom && { factsFrom }),
          ...(answersAs && { answersAs }),
          ...endOf(item, path, knownEnd({ provider, own, factsId, upstream, upstreamModel }), report),
        },
      },
    ]
  })
}

/** torana.yaml takes prices and capabilities of both kinds, since it can't know which kind a model is. */
function reportOtherKind(kind: Kind, { id, entry, report }: Parts): void {
  const other = kind === 'embedding' ? 'image' : 'embedding'
  const remedy = `of ${other} models, and ${id} is an ${kind} model: remove it`
  if (entry[other]) report.problem(['models', id, other], `has facts ${remedy}`)
  for (const field of ['attemptTimeoutMs', 'cache', 'microBatch', 'space', 'spaceGuard'] as const) {
    if (kind === 'image' && entry[field] !== undefined)
      report.problem(['models', id, field], `is for embedding models, and ${id} is an image model: remove it`)
  }
  const fields = Object.keys((kind === 'embedding' ? capabilities : imageCapabilities).shape)
  entry.deployments.forEach((item, index) => {
    for (const field of Object.keys(item.capabilities ?? {})) {
      if (fields.includes(field)) continue
      report.problem(['models', id, 'deployments', index, 'capabilities', field], `is a capability ${remedy}`)
    }
  })
}

/** The first layer with a price, as for the price itself. */
function priceFromOf(
  ofDeployment: AnyPriceFields | undefined,
  path: Path,
  own: ModelFacts | undefined,
  { id, entry, report }: Parts,
): { readonly priceFrom?: PriceFrom } {
  const said = ofDeployment === undefined ? entry.price && ['models', id, 'price'] : [...path, 'price']
  if (said !== undefined) return { priceFrom: { from: 'configuration', at: report.place(said) } }
  return own?.price === undefined ? {} : { priceFrom: { from: 'catalog', ...priceOriginOf(own) } }
}

function readPrice<Price>(
  schema: z.ZodType<Price>,
  form: AnyPriceFields | undefined,
  path: Path,
  { report }: Parts,
): Price | undefined {
  if (form === undefined || report.isBroken(path)) return undefined
  const read = schema.safeParse(form)
  for (const issue of read.error?.issues ?? [])
    report.problem([...path, ...issue.path.map(String)], issue.message)
  return read.data
}

function isOfKind<OneKind extends Kind>(
  facts: ModelFacts | undefined,
  kind: OneKind,
): facts is FactsOfKind<OneKind> {
  return facts?.kind === kind
}
