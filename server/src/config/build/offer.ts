/**
 * The built-in facts about providers, and about the models that an upstream lists: the step before anything is declared.
 */
import type { KnownProvider, OfferedModel, TriedUpstream } from '#core/catalog/offer.ts'
import { plainReport } from '../file/problem.ts'
import { model as modelSchema } from '../schema/schema.ts'
import { upstream as upstreamSchema } from '../schema/upstream.ts'
import { factsOf, modelFactsOf, priceOriginOf, type Facts, type ProviderFacts } from './facts.ts'
import { buildModel } from './model.ts'
import { buildUpstream, type UpstreamByKind } from './upstream.ts'

/** Without the demo, which needs no connecting. */
export function knownProviders(facts: Facts): readonly KnownProvider[] {
  return [...facts.values()]
    .filter(({ provider }) => provider !== 'demo')
    .map(({ provider, name, dialect, baseUrl, models }) => {
      const kinds = Object.values(models).map(({ kind }) => kind)
      return {
        id: provider,
        name,
        dialect,
        baseUrl,
        embeddingModels: kinds.filter((kind) => kind === 'embedding').length,
        imageModels: kinds.filter((kind) => kind === 'image').length,
      }
    })
}

/** The same rules as torana.yaml's. */
export function tryUpstream(name: string, entry: unknown, facts: Facts): TriedUpstream {
  const report = plainReport('store')
  const read = upstreamSchema.safeParse(entry)
  for (const issue of read.error?.issues ?? []) report.problem(issue.path.map(String), issue.message)
  const byKind = read.data && buildUpstream(name, read.data, facts, report)
  return byKind && report.problems().length === 0
    ? { upstream: byKind.embedding, offer: (listed) => offeredModels(byKind, listed, facts) }
    : { problems: report.problems() }
}

function offeredModels(
  byKind: UpstreamByKind,
  listed: readonly string[] | undefined,
  facts: Facts,
): readonly OfferedModel[] {
  const { embedding: upstream } = byKind
  const provider = facts.get(upstream.provider ?? '')
  const ids = listed?.map((name) => publicId(provider, name)) ?? Object.keys(provider?.models ?? {})
  return [...new Set(ids)].map((id) => {
    const known = modelFactsOf(facts, id) !== undefined
    const report = plainReport('store')
    const entry = modelSchema.parse({ deployments: [{ upstream: upstream.name }] })
    const upstreams = new Map([[upstream.name, byKind]])
    const model = known
      ? buildModel(id, entry, { upstreams, declaredUpstreams: [upstream.name], facts, report })
      : undefined
    return { id, model, asOf: priceOriginOf(factsOf(provider, id)?.facts)?.asOf }
  })
}

/** The facts' id of a model that the upstream has under this name. */
function publicId(provider: ProviderFacts | undefined, name: string): string {
  const found = factsOf(provider, name)
  if (found) return found.id
  const renamed = Object.entries(provider?.models ?? {}).find(
    ([, { upstreamModel }]) => upstreamModel === name,
  )
  // Ollama lists its tags; the newest needs no mention.
  return renamed?.[0] ?? name.replace(/:latest$/, '')
}
