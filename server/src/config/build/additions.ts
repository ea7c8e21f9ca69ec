/** Upstreams and models of the store, built by the same code as those of torana.yaml, and put beside them. */
import type { z } from 'zod'
import type { Catalog, Model } from '#core/catalog/catalog.ts'
import { lastEnd } from '#core/catalog/model-end.ts'
import { storedUpstreamProblems } from '#core/catalog/stored-upstream.ts'
import { isRecord } from '#core/text/record.ts'
import { plainReport, type Path, type Report } from '../file/problem.ts'
import { validate } from '../file/validate.ts'
import { model as modelSchema, type ModelEntry } from '../schema/schema.ts'
import { upstream as upstreamSchema } from '../schema/upstream.ts'
import { findSpaceProblem, isDeclaring } from './declared-spaces.ts'
import { buildRetired, buildUpstreams, knownUpstreams, type AdditionInput } from './build.ts'
import { buildModel } from './model.ts'
import { buildUpstream, type UpstreamByKind } from './upstream.ts'

/** An entry in the form of torana.yaml, as unchecked plain values. */
export interface ConfigAddition {
  readonly object: 'upstream' | 'model'
  readonly name: string
  readonly entry: unknown
  /** Who changed it last, and when. */
  readonly by: string
  readonly atMs: number
}

export interface ExtendedCatalog {
  readonly catalog: Catalog
  /** The parts that were left out, and why. */
  readonly problems: readonly EntryProblem[]
}

interface EntryProblem {
  readonly object: 'upstream' | 'model'
  readonly name: string
  /** `models.x.deployments[0].upstream: there is no upstream y`. */
  readonly text: string
}

type AnyDeployment = Model['deployments'][number]

/**
 * A name in the configuration takes precedence: of its models, only deployments on other upstreams are added. A faulty entry is
 * left out, and affects no other.
 */
export function extendCatalog(
  declared: Catalog,
  additions: readonly ConfigAddition[],
  input: AdditionInput,
): ExtendedCatalog {
  const problems: EntryProblem[] = []
  const muted = { ...input, report: plainReport('') }
  const added = new Map<string, UpstreamByKind>()
  for (const { object, name, entry } of additions) {
    if (object !== 'upstream' || input.declared.upstreams.includes(name)) continue
    const report = plainReport('store')
    const read = readEntry(upstreamSchema, entry, ['upstreams', name], report)
    for (const { path, text } of storedUpstreamProblems(isRecord(entry) ? entry : {}))
      report.problem(['upstreams', name, ...path], text)
    const upstream = read && buildUpstream(name, read, input.facts, report)
    problems.push(...report.problems().map((text) => ({ object, name, text })))
    if (upstream && report.problems().length === 0) added.set(name, upstream)
  }
  const upstreams = new Map([...buildUpstreams(muted), ...added])
  const models = new Map(declared.models)
  for (const addition of additions) {
    if (addition.object !== 'model') continue
    const { object, name } = addition
    const report = plainReport('store')
    const model = withAddition(addition, { declared, models, input, upstreams, report })
    problems.push(...report.problems().map((text) => ({ object, name, text })))
    if (model && report.problems().length === 0) for (const id of namesOf(model)) models.set(id, model)
  }
  problems.push(...addAliases(models, declared, input))
  const names = new Set([...input.declared.models, ...models.keys()])
  return {
    catalog: {
      ...declared,
      models,
      // Those of the configuration are there for the aliases of models that it declares and that are gone.
      retired: new Map([
        ...[...declared.retired].filter(([name]) => !models.has(name)),
        ...buildRetired(models, names, muted),
      ]),
      upstreams: new Map([...(declared.upstreams ?? []), ...knownUpstreams(added, () => 'store')]),
    },
    problems,
  }
}

interface Surroundings {
  readonly declared: Catalog
  /** Those of the configuration, and the additions before this one. */
  readonly models: ReadonlyMap<string, Model>
  readonly input: AdditionInput
  readonly upstreams: ReadonlyMap<string, UpstreamByKind>
  readonly report: Report
}

/** Undefined when the addition changes nothing, or the report says why it can't be used. */
function withAddition(addition: ConfigAddition, surroundings: Surroundings): Model | undefined {
  const { name, entry } = addition
  const { declared, models, input, report } = surroundings
  const path = ['models', name]
  const known = declared.models.get(name)
  if (known === undefined && input.declared.models.includes(name)) return undefined
  if (known !== undefined && known.id !== name)
    report.problem(path, `${name} is an alias of ${known.id} in the configuration`)
  if (readSpaces(models).has(name)) report.problem(path, `${name} is the name of a space that models declare`)
  const read = readEntry(modelSchema, entry, path, report)
  if (read === undefined || report.problems().length > 0) return undefined
  if (known === undefined) {
    const model = ofTheStore(addition, built(name, read, surroundings), 0)
    const problem = model && isDeclaring(model) && findSpaceProblem(model, models)
    if (problem) report.problem([...path, 'space'], problem)
    return model
  }
  const own = input.file.models?.[name]
  const onOthers = read.deployments.filter(
    ({ upstream }) => own?.deployments.some((one) => one.upstream === upstream) === false,
  )
  if (own === undefined || onOthers.length === 0) return undefined
  const merged = { ...own, deployments: [...own.deployments, ...onOthers] }
  const model = ofTheStore(addition, built(name, merged, surroundings), known.deployments.length)
  return model && asDeclared(model, known)
}

function built(id: string, entry: ModelEntry, { input, upstreams, report }: Surroundings): Model | undefined {
  const { facts } = input
  return buildModel(id, entry, { upstreams, declaredUpstreams: [...upstreams.keys()], facts, report })
}

/** Prices in an entry of the store are prices of the store. The first `declared` deployments are not of the entry. */
function ofTheStore(
  { by, atMs }: ConfigAddition,
  model: Model | undefined,
  declared: number,
): Model | undefined {
  return (
    model &&
    withDeployments(model, (one, index) =>
      index >= declared && one.priceFrom?.from === 'configuration'
        ? { ...one, priceFrom: { from: 'store', by, atMs } }
        : one,
    )
  )
}

/** With the places of the configuration. */
function asDeclared(model: Model, known: Model): Model {
  const placed = withDeployments(model, (one, index) => {
    const { managedBy, priceFrom, end } = known.deployments[index] ?? one
    return { ...one, managedBy, ...(priceFrom && { priceFrom }), ...(end && { end }) }
  })
  const end = lastEnd(placed.deployments)
  return { ...placed, ...(end && { end }), managedBy: known.managedBy }
}

function withDeployments(
  model: Model,
  change: <Deployment extends AnyDeployment>(deployment: Deployment, index: number) => Deployment,
): Model {
  return model.kind === 'embedding'
    ? { ...model, deployments: model.deployments.map((one, index) => change(one, index)) }
    : { ...model, deployments: model.deployments.map((one, index) => change(one, index)) }
}

/** Models that the configuration declares keep their aliases; those of the store come behind all ids. */
function namesOf(model: Model): readonly string[] {
  return model.managedBy === 'store' ? [model.id] : [model.id, ...model.aliases]
}

/** An alias that is taken is left out: the model is served by its other names. */
function addAliases(models: Map<string, Model>, declared: Catalog, input: AdditionInput): EntryProblem[] {
  const problems: EntryProblem[] = []
  const owners = new Map<string, string>([
    ...[...readSpaces(models)].map((name) => [name, 'the name of a space that models declare'] as const),
    ...[...models].map(
      ([name, { id }]) => [name, name === id ? 'the id of a model' : `an alias of ${id}`] as const,
    ),
    ...input.declared.models.map((id) => [id, 'the id of a model'] as const),
  ])
  for (const model of [...models.values()].filter(({ managedBy }) => managedBy === 'store')) {
    const free = model.aliases.filter((alias, index) => {
      const owner = owners.get(alias)
      owners.set(alias, owner ?? `an alias of ${model.id}`)
      const text = `models.${model.id}.aliases[${index}]: ${alias} is already ${owner}`
      if (owner !== undefined) problems.push({ object: 'model', name: model.id, text })
      return owner === undefined
    })
    const served = free.length === model.aliases.length ? model : { ...model, aliases: free }
    for (const id of [model.id, ...free]) models.set(id, served)
  }
  return problems
}

function readSpaces(models: ReadonlyMap<string, Model>): ReadonlySet<string> {
  return new Set([...models.values()].filter(isDeclaring).map(({ space }) => space))
}

/** Reports the faults of an entry with its path, in the words for torana.yaml. Undefined when there is one. */
function readEntry<Schema extends z.ZodType>(
  schema: Schema,
  data: unknown,
  path: Path,
  report: Report,
): z.output<Schema> | undefined {
  const below: Report = {
    ...report,
    problem: (at, message) => report.problem([...path, ...at], message),
    isBroken: (at) => report.isBroken([...path, ...at]),
  }
  const valid = validate(schema, { data, report: below, isInterpolated: () => false })
  return report.problems().length > 0 ? undefined : valid?.value
}
