/** torana.yaml and the built-in facts → the catalog. */
import type { Catalog, Deployment, Model, RetiredModel, Upstream } from '#core/catalog.ts'
import { spaceOf } from '#core/embedding/space.ts'
import { buildProjects, type KeySurroundings } from './build-projects.ts'
import { buildUpstream } from './build-upstream.ts'
import { embeddingFactsOf, factsOf, knownModels } from './facts.ts'
import type { Facts } from './facts.ts'
import { didYouMean } from './problem.ts'
import type { Report } from './problem.ts'
import { resolveCapabilities, resolveEmbedding, resolvePrice } from './resolve.ts'
import type { ConfigFile, DeploymentEntry, ModelEntry } from './schema.ts'

export interface BuildInput extends KeySurroundings {
  readonly file: ConfigFile
  /** Keys of `upstreams` and `models`, also of entries too faulty to be in `file`. */
  readonly declared: { readonly upstreams: readonly string[]; readonly models: readonly string[] }
  readonly facts: Facts
}

/** Complete only when the report holds no problem. */
export function buildCatalog(input: BuildInput): Catalog {
  const { file, report } = input
  const upstreams = new Map<string, Upstream>()
  for (const [name, entry] of Object.entries(file.upstreams ?? {})) {
    const upstream = buildUpstream(name, entry, input.facts, report)
    if (upstream) upstreams.set(name, upstream)
  }
  const entries = Object.entries(file.models ?? {})
  if (input.declared.models.length === 0 && !report.isBroken(['models'])) {
    report.problem(
      ['models'],
      'there are none: with a file, Torana serves what the file says. Declare one, or start without a file',
    )
  }
  const models = new Map<string, Model>()
  for (const [id, entry] of entries) {
    const model = buildModel(id, entry, upstreams, input)
    if (model) models.set(id, model)
  }
  const declared = addAliases(models, entries, input)
  warnOfUnusedUpstreams(file, report)
  return {
    models,
    retired: buildRetired(models, declared, input),
    projects: buildProjects(file.projects, { served: models, declared }, input),
  }
}

function buildModel(
  id: string,
  entry: ModelEntry,
  upstreams: ReadonlyMap<string, Upstream>,
  input: BuildInput,
): Model | undefined {
  const { facts, report } = input
  const path = ['models', id]
  const wasBroken = report.isBroken(path)
  const factsId = entry.facts ?? id
  const known = embeddingFactsOf(facts, factsId)
  if (entry.facts !== undefined && !known) {
    report.problem(
      [...path, 'facts'],
      `there are no built-in facts about ${entry.facts}.${didYouMean(entry.facts, knownModels(facts))}`,
    )
  }
  const deployments = buildDeployments(id, factsId, entry, upstreams, input)
  const takesTokenArrays = deployments.some(({ capabilities }) => capabilities.tokenArrays)
  const resolved = resolveEmbedding([known, entry.embedding], takesTokenArrays)
  if (!resolved || (!known && entry.kind === undefined)) {
    if (!wasBroken && !report.isBroken([...path, 'facts'])) {
      report.problem(
        path,
        `there are no built-in facts about ${factsId}.${didYouMean(factsId, knownModels(facts))} For a model of your own write ` +
          'kind: embedding and embedding: { dimensions: <width of its vectors> }. Image models are not served by this version yet',
        'key',
      )
    }
    return undefined
  }
  warnOfRetirement(id, factsId, deployments, input)
  return {
    id,
    kind: 'embedding',
    aliases: entry.aliases,
    ownedBy: deployments[0]?.upstream.provider ?? deployments[0]?.upstream.name ?? 'torana',
    facts: resolved,
    space: spaceOf(id, resolved.dimensions),
    unsupported: entry.unsupported,
    deployments,
    managedBy: report.place(path),
  }
}

function buildDeployments(
  id: string,
  factsId: string,
  entry: ModelEntry,
  upstreams: ReadonlyMap<string, Upstream>,
  { facts, report, declared }: BuildInput,
): Deployment[] {
  const used = Map.groupBy(entry.deployments, ({ upstream }) => upstream)
  const ids = new Set<string>()
  return entry.deployments.flatMap((item: DeploymentEntry, index) => {
    const path = ['models', id, 'deployments', index]
    const upstream = upstreams.get(item.upstream)
    if (!upstream) {
      if (!declared.upstreams.includes(item.upstream)) {
        report.problem(
          [...path, 'upstream'],
          `there is no upstream ${item.upstream}.${didYouMean(item.upstream, declared.upstreams)}`,
        )
      }
      return []
    }
    const provider = facts.get(upstream.provider ?? '')
    const known = factsOf(provider, factsId)
    const upstreamModel = item.model ?? known?.facts.upstreamModel ?? known?.id ?? id
    const several = (used.get(item.upstream)?.length ?? 0) > 1
    const deploymentId = `${id}/${item.upstream}${several ? `/${upstreamModel}` : ''}`
    if (ids.has(deploymentId))
      report.problem(path, `deploys ${upstreamModel} on ${item.upstream} again: use weight to give it more`)
    ids.add(deploymentId)
    return [
      {
        id: deploymentId,
        upstream,
        upstreamModel,
        priority: item.priority,
        weight: item.weight,
        capabilities: resolveCapabilities([
          provider?.capabilities,
          known?.facts.capabilities,
          item.capabilities,
        ]),
        price: resolvePrice([item.price, entry.price, known?.facts.price]),
      },
    ]
  })
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

function buildRetired(
  models: ReadonlyMap<string, Model>,
  declared: ReadonlySet<string>,
  { file, facts, nowMs, report }: BuildInput,
): Map<string, RetiredModel> {
  const retired = new Map<string, RetiredModel>()
  for (const provider of facts.values()) {
    for (const [id, { on, successor }] of Object.entries(provider.retired)) {
      // Sending callers on to a model that is not served here would only earn them the next 404.
      const served = successor !== undefined && models.has(successor) ? successor : undefined
      if (!declared.has(id) && Date.parse(on) <= nowMs) retired.set(id, { id, on, successor: served })
    }
  }
  for (const [id, { on, successor }] of Object.entries(file.retired ?? {})) {
    if (declared.has(id)) report.problem(['retired', id], 'is also declared under models: keep one', 'key')
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

function warnOfRetirement(
  id: string,
  factsId: string,
  deployments: readonly Deployment[],
  { facts, report }: BuildInput,
): void {
  for (const provider of new Set(deployments.map(({ upstream }) => upstream.provider))) {
    const end = facts.get(provider ?? '')?.retired[factsId]
    if (end)
      report.warning(
        ['models', id],
        `${provider} ends it on ${end.on}${end.successor ? `; it names ${end.successor} as successor` : ''}`,
      )
  }
}

function warnOfUnusedUpstreams(file: ConfigFile, report: Report): void {
  const used = new Set(
    Object.values(file.models ?? {}).flatMap((model) => model.deployments.map(({ upstream }) => upstream)),
  )
  for (const name of Object.keys(file.upstreams ?? {})) {
    if (!used.has(name)) report.warning(['upstreams', name], 'no model is deployed on it')
  }
}
