/** Entries that are valid but hardly intended. `torana check` and every start report them as warnings. */
import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'
import {
  listModels,
  type Catalog,
  type ConfiguredBudget,
  type EmbeddingModel,
  type Model,
} from '#core/catalog/catalog.ts'
import { endWords, hasEnded, isNear } from '#core/catalog/model-end.ts'
import { costOf, dollars, type ImagePrice, type Price } from '#core/money/price.ts'
import { leftOut } from '#core/embedding/vector-types/offer.ts'
import { VECTOR_TYPES } from '#core/catalog/vector-type.ts'
import type { Path, Report } from '../file/problem.ts'
import type { ConfigFile, UpstreamEntry } from '../schema/schema.ts'
import { factsOf, type Facts } from './facts.ts'

interface Doubtful {
  readonly file: ConfigFile
  readonly facts: Facts
  readonly report: Report
  readonly nowMs: number
}

export function warnOfDoubts(catalog: Catalog, doubtful: Doubtful): void {
  for (const model of listModels(catalog)) {
    if (model.kind === 'embedding') {
      warnOfMixture(model, doubtful)
      warnOfTypes(model, doubtful.report)
    }
    warnOfEnds(model, catalog, doubtful)
  }
  warnOfHopelessBudgets(catalog, doubtful.report)
  for (const [name, entry] of Object.entries(doubtful.file.upstreams ?? {}))
    warnOfAddress(['upstreams', name], entry, doubtful.report)
}

/** A path that Torana adds to a base URL by itself. */
const OWN_PATH = /\/(embeddings|images(\/[a-z]+)?)$/

function warnOfAddress(path: Path, { baseUrl, apiKey, headers = {} }: UpstreamEntry, report: Report): void {
  const url = baseUrl === undefined ? null : URL.parse(baseUrl)
  if (url === null) return
  const [ownPath] = OWN_PATH.exec(url.pathname.replace(/\/+$/, '')) ?? []
  if (ownPath !== undefined)
    report.warning(
      [...path, 'baseUrl'],
      `ends in ${ownPath}: Torana adds the path of each call itself. Leave it out`,
    )
  const isSecret = apiKey !== undefined || Object.keys(headers).some((name) => CREDENTIAL_HEADER.test(name))
  if (isSecret && url.protocol === 'http:' && isPublic(url.hostname))
    report.warning(
      [...path, 'baseUrl'],
      'sends the credential over plain http to a public host: everyone on the way can read it. Write https',
    )
}

const CREDENTIAL_HEADER = /auth|key|token|secret|cookie/i

/** Names without a dot, and those that public DNS never has. */
const PRIVATE_NAME =
  /^[^.]+$|\.(localhost|local|internal|intranet|lan|home|corp|private|svc|test|invalid|example|arpa)\.?$/i

function isPublic(hostname: string): boolean {
  const address = hostname.replace(/^\[|\]$/g, '')
  return isIP(address) === 0 ? !PRIVATE_NAME.test(address) : ipaddr.process(address).range() === 'unicast'
}

/** By deployment, since providers of the same model have days of their own. */
function warnOfEnds(model: Model, { models }: Catalog, { report, nowMs }: Doubtful): void {
  // Without a file no operator chose these models. Their answers and the console show their ends.
  if (model.managedBy === 'built-in') return
  model.deployments.forEach(({ upstream, upstreamModel, end }: Model['deployments'][number], index) => {
    if (end === undefined || !isNear(end, nowMs)) return
    const { successor, note } = end
    const served =
      successor !== undefined && models.has(successor) ? '' : ', which this file does not declare'
    const next =
      successor === undefined ? 'Its provider names no successor' : `Its successor is ${successor}${served}`
    const still = hasEnded(end, nowMs) ? ' Torana goes on calling it until you remove it.' : ''
    report.warning(
      ['models', model.id, 'deployments', index],
      `${upstreamModel} on ${upstream.provider ?? upstream.name} ${endWords(end, nowMs)}${note === undefined ? '' : ` (${note})`}.${still} ${next}`,
    )
  })
}

/** Vectors of two models in one index find nothing: the accident that Torana exists to prevent. */
function warnOfMixture(model: EmbeddingModel, { file, facts, report }: Doubtful): void {
  const declaredAs = file.models?.[model.id]?.facts ?? model.id
  const own = [...facts.values()].map((provider) => factsOf(provider, declaredAs)?.id).find(Boolean)
  const known = model.deployments.map(({ upstream, upstreamModel }) => {
    const models = Object.entries(facts.get(upstream.provider ?? '')?.models ?? {})
    return models.find(
      ([id, one]) => (one.upstreamModel ?? id) === upstreamModel || one.aliases.includes(upstreamModel),
    )?.[0]
  })
  const first = own ?? known.find(Boolean)
  const index = known.findIndex((id) => id !== undefined && id !== first)
  if (index < 0) return
  report.warning(
    ['models', model.id, 'deployments', index],
    `${known[index]} is another model than ${first}: their vectors do not fit together, and the space guard lets only one of them answer. Give each a model of its own`,
  )
}

/** A type is native in all deployments that serve it, so the others are no fallback for it. */
function warnOfTypes(model: EmbeddingModel, report: Report): void {
  for (const type of VECTOR_TYPES)
    for (const deployment of leftOut(model, type))
      report.warning(
        ['models', model.id, 'deployments', model.deployments.indexOf(deployment)],
        `does not make ${type}, and the first deployment of ${model.id} does: requests for ${type} never come here. Give it outputTypes, or give it a model of its own`,
      )
}

/** Warns of a budget that no request fits into: the allowed models have no price, or one request costs more. */
function warnOfHopelessBudgets(catalog: Catalog, report: Report): void {
  const modelsOf = (ids: readonly string[] | undefined): readonly Model[] =>
    ids?.flatMap((id) => catalog.models.get(id) ?? []) ?? listModels(catalog)
  const warn = (path: Path, { hard, limitNanoUsd }: ConfiguredBudget, models: readonly Model[]): void => {
    if (!hard || models.length === 0) return
    const deployments = models.flatMap<{ readonly price: Price | ImagePrice }>((model) => model.deployments)
    if (deployments.every(({ price }) => price.kind === 'unpriced')) return report.warning(path, UNPRICED)
    const least = leastOf(models.map(requestCostOf))
    if (least !== undefined && limitNanoUsd < least.nanoUsd)
      report.warning(
        path,
        `is hard, and ${dollars(limitNanoUsd)} is less than one request costs: ${dollars(least.nanoUsd)} for ${least.what}. Such requests are refused. Raise it, or leave out hard`,
      )
  }
  for (const { name, keys, budget } of catalog.projects) {
    const ofKeys = keys.map(({ models }) => modelsOf(models))
    if (budget)
      warn(['projects', name, 'budget'], budget, keys.length === 0 ? modelsOf(undefined) : ofKeys.flat())
    keys.forEach((key, index) => {
      if (key.budget) warn(['projects', name, 'keys', index, 'budget'], key.budget, ofKeys[index] ?? [])
    })
  }
}

const UNPRICED =
  'is hard, and no model that may be used here has a price: every request is refused. Write prices, or leave out hard'

interface RequestCost {
  readonly nanoUsd: bigint
  /** The request in words. */
  readonly what: string
}

/** The length of a text for a model that says nothing of its longest input: about a page. */
const PAGE_TOKENS = 500

/** One full input, or the cheapest image, at the cheapest deployment. Undefined when it depends on more than the price. */
function requestCostOf(model: Model): RequestCost | undefined {
  if (model.kind === 'image') {
    const costs = model.deployments.map(({ price }) => pictureCostOf(price))
    return leastOf(
      costs.map((nanoUsd) =>
        nanoUsd === undefined ? undefined : { nanoUsd, what: `an image of ${model.id}` },
      ),
    )
  }
  const tokens = model.facts.maxInputTokens ?? PAGE_TOKENS
  const costs = model.deployments.map(({ price }) => costOf(price, tokens))
  const what = `an input of ${tokens} tokens of ${model.id}`
  return leastOf(costs.map((cost) => (cost.kind === 'known' ? { nanoUsd: cost.nanoUsd, what } : undefined)))
}

function pictureCostOf(price: ImagePrice): bigint | undefined {
  if (price.kind === 'free') return 0n
  if (price.kind !== 'perImage') return undefined
  const prices = [...price.nanoUsd.values()].flatMap((byQuality) => [...byQuality.values()])
  return prices.reduce((least, one) => (one < least ? one : least))
}

/** Undefined if one of them is not known: it may be the least. */
function leastOf(costs: readonly (RequestCost | undefined)[]): RequestCost | undefined {
  const known = costs.filter((cost) => cost !== undefined)
  if (known.length < costs.length || known.length === 0) return undefined
  return known.reduce((least, one) => (one.nanoUsd < least.nanoUsd ? one : least))
}
