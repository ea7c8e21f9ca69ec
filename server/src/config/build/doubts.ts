/** What can be read and is hardly meant. It is told as warnings, by `torana check` and at every start. */
import { listModels, type Catalog, type EmbeddingModel, type Model } from '#core/catalog.ts'
import type { Report } from '../file/problem.ts'
import type { ConfigFile } from '../schema/schema.ts'
import { factsOf, type Facts } from './facts.ts'

interface Doubtful {
  readonly file: ConfigFile
  readonly facts: Facts
  readonly report: Report
}

export function warnOfDoubts(catalog: Catalog, doubtful: Doubtful): void {
  for (const model of listModels(catalog)) if (model.kind === 'embedding') warnOfMixture(model, doubtful)
  warnOfHopelessBudgets(catalog, doubtful.report)
}

/** Vectors of two models in one index find nothing: the very accident that Torana is there to prevent. */
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

/** What has no price can't be held against a hard budget, so that it is refused. */
function warnOfHopelessBudgets(catalog: Catalog, report: Report): void {
  const isUnpriced = (model: Model | undefined): boolean =>
    model?.deployments.every(({ price }) => price.kind === 'unpriced') ?? false
  const areUnpriced = (ids: readonly string[] | undefined): boolean => {
    const models = ids?.map((id) => catalog.models.get(id)) ?? listModels(catalog)
    return models.length > 0 && models.every(isUnpriced)
  }
  const words =
    'is hard, and no model that may be used here has a price: every request is refused. Write prices, or leave out hard'
  for (const { name, keys, budget } of catalog.projects) {
    const isHopeless =
      keys.length === 0 ? areUnpriced(undefined) : keys.every(({ models }) => areUnpriced(models))
    if (budget?.hard && isHopeless) report.warning(['projects', name, 'budget'], words)
    keys.forEach((key, index) => {
      if (key.budget?.hard && areUnpriced(key.models))
        report.warning(['projects', name, 'keys', index, 'budget'], words)
    })
  }
}
