/** torana.yaml and the built-in facts → the catalog. */
import type { Catalog, KnownUpstream, Model } from '#core/catalog/catalog.ts'
import type { RetiredModel } from '#core/catalog/model-end.ts'
import { buildAlerts } from './alerts.ts'
import { checkSpaces } from './declared-spaces.ts'
import { buildModel } from './model.ts'
import { buildProjects, type KeySurroundings } from './projects.ts'
import { buildUpstream } from './upstream.ts'
import type { UpstreamByKind } from './upstream.ts'
import { warnOfDoubts } from './doubts.ts'
import type { Facts } from './facts.ts'
import { didYouMean } from '../file/problem.ts'
import type { Report } from '../file/problem.ts'
import type { ConfigFile, ModelEntry } from '../schema/schema.ts'

export interface BuildInput extends KeySurroundings {
  readonly file: ConfigFile
  /** Keys of `upstreams` and `models`, also of entries too faulty to be in `file`. */
  readonly declared: { readonly upstreams: readonly string[]; readonly models: readonly string[] }
  readonly facts: Facts
}

/** The base on which upstreams and models of the store are built. Plain values, so that it can come from another thread. */
export interface AdditionBase {
  readonly file: Pick<ConfigFile, 'upstreams' | 'models' | 'retired'>
  readonly declared: BuildInput['declared']
  readonly nowMs: number
}

/** The built-in facts, and a separate report, come with each use. */
export interface AdditionInput extends AdditionBase {
  readonly facts: Facts
}

type Reported<Input> = Input & { readonly report: Report }

/** Complete only when the report holds no problem. */
export function buildCatalog(input: BuildInput): Catalog {
  const { file, report } = input
  const upstreams = buildUpstreams(input)
  const entries = Object.entries(file.models ?? {})
  if (input.declared.models.length === 0 && !report.isBroken(['models'])) {
    report.problem(
      ['models'],
      'there are none. With a file, the demo models are off. Declare a model, or start without a file',
    )
  }
  const models = new Map<string, Model>()
  const surroundings = { upstreams, declaredUpstreams: input.declared.upstreams, facts: input.facts, report }
  for (const [id, entry] of entries) {
    const model = buildModel(id, entry, surroundings)
    if (model) models.set(id, model)
  }
  const declared = addAliases(models, entries, input)
  checkSpaces(models, input)
  warnOfUnusedUpstreams(file, report)
  const catalog: Catalog = {
    models,
    upstreams: knownUpstreams(upstreams, (name) => report.place(['upstreams', name])),
    retired: withAliases(buildRetired(models, declared, input), models, entries),
    projects: buildProjects(file.projects, { served: models, declared }, input),
    alerts: buildAlerts(file.alerts, report),
  }
  warnOfDoubts(catalog, input)
  return catalog
}

export function buildUpstreams({
  file,
  facts,
  report,
}: Reported<AdditionInput>): Map<string, UpstreamByKind> {
  const upstreams = new Map<string, UpstreamByKind>()
  for (const [name, entry] of Object.entries(file.upstreams ?? {})) {
    const upstream = buildUpstream(name, entry, facts, report)
    if (upstream) upstreams.set(name, upstream)
  }
  return upstreams
}

export function knownUpstreams(
  upstreams: ReadonlyMap<string, UpstreamByKind>,
  placeOf: (name: string) => string,
): Map<string, KnownUpstream> {
  return new Map(
    [...upstreams].map(([name, { embedding }]) => [name, { upstream: embedding, managedBy: placeOf(name) }]),
  )
}

/** Puts the aliases into `models`; returns every id and alias that the file claims. */
function addAliases(
  models: Map<string, Model>,
  entries: readonly (readonly [string, ModelEntry])[],
  { declared, report }: BuildInput,
): Set<string> {
  const owners = new Map(declared.models.map((id) => [id, id]))
  for (const [id, entry] of entries) {
    entry.aliases.forEach((alias, index) => {
      const owner = owners.get(alias)
      if (owner !== undefined) {
        const what = owner === alias ? 'the id of a model' : `an alias of ${owner}`
        report.problem(['models', id, 'aliases', index], `${alias} is already ${what}`)
        return
      }
      owners.set(alias, id)
      const model = models.get(id)
      if (model) models.set(alias, model)
    })
  }
  return new Set(owners.keys())
}

export function buildRetired(
  models: ReadonlyMap<string, Model>,
  declared: ReadonlySet<string>,
  { file, facts, nowMs, report }: Reported<AdditionInput>,
): Map<string, RetiredModel> {
  const retired = new Map<string, RetiredModel>()
  for (const provider of facts.values()) {
    for (const [id, { on, successor, note }] of Object.entries(provider.retired)) {
      // Sending callers on to a model that is not served here would only earn them the next 404.
      const served = successor !== undefined && models.has(successor) ? successor : undefined
      if (!models.has(id) && Date.parse(on) <= nowMs)
        retired.set(id, { id, on, successor: served, ...(note !== undefined && { note }) })
    }
  }
  for (const [id, { on, successor }] of Object.entries(file.retired ?? {})) {
    if (declared.has(id))
      report.problem(['retired', id], 'is also declared under models: keep one of the two', 'key')
    if (successor !== undefined && !declared.has(successor)) {
      report.problem(
        ['retired', id, 'successor'],
        `there is no model ${successor}.${didYouMean(successor, declared)}`,
      )
    }
    retired.set(id, { id, on, successor })
  }
  return retired
}

/** The aliases of a retired model of the file get the same answer as the model. */
function withAliases(
  retired: ReadonlyMap<string, RetiredModel>,
  models: ReadonlyMap<string, Model>,
  entries: readonly (readonly [string, ModelEntry])[],
): Map<string, RetiredModel> {
  const all = new Map(retired)
  for (const [id, { aliases }] of entries) {
    const one = retired.get(id)
    if (one !== undefined) for (const alias of aliases) if (!models.has(alias)) all.set(alias, one)
  }
  return all
}

function warnOfUnusedUpstreams(file: ConfigFile, report: Report): void {
  const used = new Set(
    Object.values(file.models ?? {}).flatMap((model) => model.deployments.map(({ upstream }) => upstream)),
  )
  for (const name of Object.keys(file.upstreams ?? {})) {
    if (!used.has(name)) report.warning(['upstreams', name], 'no model is deployed on it')
  }
}
