/** `spaces` → the family of each member. */
import type { EmbeddingModel, Model, SpaceFamily } from '#core/catalog/catalog.ts'
import { didYouMean } from '../file/problem.ts'
import type { Path, Report } from '../file/problem.ts'
import type { ConfigFile } from '../schema/schema.ts'
import { modelFactsOf, type Facts } from './facts.ts'

interface FamilySurroundings {
  readonly file: ConfigFile
  /** Ids of models, also of faulty ones. */
  readonly declared: { readonly models: readonly string[] }
  readonly facts: Facts
  readonly report: Report
}

/** Gives the models of the map their families. Aliases come after it, so that they lead to the same model. */
export function addFamilies(models: Map<string, Model>, input: FamilySurroundings): void {
  const owners = new Map<string, string>()
  for (const [name, { members }] of Object.entries(input.file.spaces ?? {})) {
    reportName(name, input)
    if (members.length === 1)
      input.report.problem(['spaces', name, 'members'], 'a family has at least two members')
    const found = members.map((id, index) => {
      const path = ['spaces', name, 'members', index]
      const owner = owners.get(id)
      if (owner !== undefined) input.report.problem(path, `${id} is already a member of ${owner}`)
      owners.set(id, name)
      return memberOf(id, path, models, input)
    })
    const able = found.filter((model) => model !== undefined)
    reportWidths(able, ['spaces', name, 'members'], input.report)
    const family: SpaceFamily = { name, members }
    for (const model of able) models.set(model.id, { ...model, family })
  }
  suggestFamilies(models, input)
}

/** A space's id begins with its owner: a model and a family of one name could not be distinguished. */
function reportName(name: string, { file, declared, report }: FamilySurroundings): void {
  const alias = Object.entries(file.models ?? {}).find(([, { aliases }]) => aliases.includes(name))?.[0]
  const what = declared.models.includes(name) ? 'the id of a model' : alias && `an alias of ${alias}`
  if (what !== undefined)
    report.problem(['spaces', name], `is ${what}: name the family otherwise, such as ${name}-family`, 'key')
}

function memberOf(
  id: string,
  path: Path,
  models: ReadonlyMap<string, Model>,
  { file, declared, report }: FamilySurroundings,
): EmbeddingModel | undefined {
  const model = models.get(id)
  if (model?.kind === 'embedding' && model.isGuarded) return model
  const alias = Object.entries(file.models ?? {}).find(([, { aliases }]) => aliases.includes(id))?.[0]
  if (model?.kind === 'embedding')
    report.problem(path, `${id} has spaceGuard: false, and only vectors that are probed can join a family`)
  else if (model?.kind === 'image') report.problem(path, `${id} makes images, which have no vector space`)
  else if (alias !== undefined) report.problem(path, `${id} is an alias: write ${alias}`)
  else if (!declared.models.includes(id))
    report.problem(path, `there is no model ${id}.${didYouMean(id, declared.models)}`)
  return undefined
}

/** Members are compared at the narrower width, which the wider one must allow. */
function reportWidths(members: readonly EmbeddingModel[], path: Path, report: Report): void {
  const narrowest = Math.min(...members.map(({ facts }) => facts.dimensions))
  const rigid = members.find(({ facts }) => facts.dimensions > narrowest && !facts.matryoshka)
  const narrow = members.find(({ facts }) => facts.dimensions === narrowest)
  if (rigid === undefined || narrow === undefined) return
  const widths = `${rigid.id} has ${rigid.facts.dimensions} dimensions, ${narrow.id} ${narrowest}`
  report.problem(path, `${widths}, and vectors of ${rigid.id} cannot be truncated (matryoshka: false)`)
}

/** What the makers of the models say is suggested, and never applied by itself. */
function suggestFamilies(
  models: ReadonlyMap<string, Model>,
  { file, facts, report }: FamilySurroundings,
): void {
  const known = [...models.values()].flatMap((model) => {
    const found = modelFactsOf(facts, file.models?.[model.id]?.facts ?? model.id)
    const name = found?.kind === 'embedding' ? found.family?.name : undefined
    return name !== undefined && model.kind === 'embedding' && model.isGuarded ? [{ name, model }] : []
  })
  for (const [name, all] of Map.groupBy(known, (one) => one.name)) {
    const apart = all.filter(({ model }) => model.family === undefined)
    if (all.length < 2 || apart.length === 0) continue
    const ids = all.map(({ model }) => model.id).join(', ')
    report.warning(
      ['models', apart[0]?.model.id ?? ''],
      `its maker says that ${ids} share one vector space: you could index with one and query with another. To use that, write spaces: { ${name}: { members: [${ids}] } }`,
    )
  }
}
