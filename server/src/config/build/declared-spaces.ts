/** `space` of a model: a vector space that it shares with the other models that declare the same. */
import type { EmbeddingModel, Model } from '#core/catalog/catalog.ts'
import { takesWidth } from '#core/embedding/negotiate.ts'
import type { Report } from '../file/problem.ts'
import type { ConfigFile } from '../schema/schema.ts'
import { modelFactsOf, type Facts } from './facts.ts'

interface SpaceSurroundings {
  readonly file: ConfigFile
  readonly facts: Facts
  readonly report: Report
}

type Declaring = EmbeddingModel & { readonly space: string }

/** `models`: by id and by alias. */
export function checkSpaces(models: ReadonlyMap<string, Model>, surroundings: SpaceSurroundings): void {
  const { report } = surroundings
  const all = [...new Set(models.values())]
  const declaring = all.filter(isDeclaring)
  for (const model of declaring) {
    const problem = findSpaceProblem(model, models)
    if (problem !== undefined) report.problem(['models', model.id, 'space'], problem)
  }
  for (const [space, [first, ...others]] of Map.groupBy(declaring, (model) => model.space))
    if (first !== undefined && others.length === 0)
      report.warning(
        ['models', first.id, 'space'],
        `no other model declares the space ${space}: write it at each model that shares it`,
      )
  suggestSpaces(all, surroundings)
}

/** Why the model cannot have the space that it declares, beside the models that come before it. */
export function findSpaceProblem(model: Declaring, models: ReadonlyMap<string, Model>): string | undefined {
  const { id, space, isGuarded, facts } = model
  // The id of a space begins with its name: that of a model and a declared one could not be distinguished.
  const owner = models.get(space)
  if (owner !== undefined) {
    const what = owner.id === space ? 'the id of a model' : `an alias of ${owner.id}`
    return `${space} is ${what}: name the space otherwise, such as ${space}-series`
  }
  if (!isGuarded)
    return `${id} has spaceGuard: false, and only models whose vectors are probed can share a space`
  for (const other of models.values()) {
    if (other.id === id) break
    if (!isDeclaring(other) || other.space !== space || shareWidth(model, other)) continue
    return `${other.id} has ${other.facts.dimensions} dimensions and ${id} ${facts.dimensions}, and there is no width that both can answer: models that share a space need one`
  }
  return undefined
}

export function isDeclaring(model: Model): model is Declaring {
  return model.kind === 'embedding' && model.space !== undefined
}

function shareWidth(one: EmbeddingModel, other: EmbeddingModel): boolean {
  return [...leastWidths(one), ...leastWidths(other)].some(
    (width) => answersWidth(one, width) && answersWidth(other, width),
  )
}

/** If two models have a width in common, it is one of these of either. */
function leastWidths({ facts, deployments }: EmbeddingModel): readonly number[] {
  const native = deployments.flatMap(({ capabilities: { dimensions } }) =>
    dimensions.kind === 'list' ? dimensions.values : dimensions.kind === 'range' ? [dimensions.min] : [],
  )
  return [facts.dimensions, ...native]
}

function answersWidth({ facts, deployments }: EmbeddingModel, width: number): boolean {
  if (width === facts.dimensions || (facts.matryoshka && width < facts.dimensions)) return true
  return deployments.some(({ capabilities }) => takesWidth(capabilities.dimensions, width))
}

/** What the makers of the models say is suggested, and never applied by itself. */
function suggestSpaces(models: readonly Model[], { file, facts, report }: SpaceSurroundings): void {
  const known = models.flatMap((model) => {
    const found = modelFactsOf(facts, file.models?.[model.id]?.facts ?? model.id)
    const space = found?.kind === 'embedding' ? found.space?.name : undefined
    return space !== undefined && model.kind === 'embedding' && model.isGuarded ? [{ space, model }] : []
  })
  for (const [space, all] of Map.groupBy(known, (one) => one.space)) {
    const apart = all.filter(({ model }) => model.space === undefined)
    if (all.length < 2 || apart.length === 0) continue
    const ids = all.map(({ model }) => model.id).join(', ')
    report.warning(
      ['models', apart[0]?.model.id ?? ''],
      `its maker says that ${ids} share one vector space: you could index with one and query with another. To use that, write space: ${space} at each of them`,
    )
  }
}
