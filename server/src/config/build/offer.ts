/** What the built-in facts say of providers, and of the models that an upstream lists: the step before anything is declared. */
import type { DialectName, Model, Upstream } from '#core/catalog.ts'
import { plainReport } from '../file/problem.ts'
import { model as modelSchema } from '../schema/schema.ts'
import { upstream as upstreamSchema } from '../schema/upstream.ts'
import {
  builtInFacts,
  factsOf,
  modelFactsOf,
  priceOriginOf,
  type Facts,
  type ProviderFacts,
} from './facts.ts'
import { buildModel } from './model.ts'
import { buildUpstream, type UpstreamByKind } from './upstream.ts'

export interface KnownProvider {
  readonly id: string
  readonly name: string
  readonly dialect: DialectName
  /** Its published address. Undefined: its package knows it, or it runs wherever the operator put it. */
  readonly baseUrl: string | undefined
  readonly embeddingModels: number
  readonly imageModels: number
}

/** Without the demo, which needs no connecting. */
export function knownProviders(facts: Facts = builtInFacts()): readonly KnownProvider[] {
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

/** An upstream that may be declared, or what is wrong with it. */
export type TriedUpstream =
  | { readonly upstream: Upstream; readonly byKind: UpstreamByKind }
  | { readonly problems: readonly string[] }

/** The same rules as torana.yaml's. */
export function tryUpstream(name: string, entry: unknown, facts: Facts = builtInFacts()): TriedUpstream {
  const report = plainReport('store')
  const read = upstreamSchema.safeParse(entry)
  for (const issue of read.error?.issues ?? []) report.problem(issue.path.map(String), issue.message)
  const byKind = read.data && buildUpstream(name, read.data, facts, report)
  return byKind && report.problems().length === 0
    ? { upstream: byKind.embedding, byKind }
    : { problems: report.problems() }
}

export interface OfferedModel {
  /** The public id that it would get. */
  readonly id: string
  /** Undefined: the built-in facts do not know it. */
  readonly model: Model | undefined
  /** The day on which its price was read. */
  readonly asOf: string | undefined
}

/** `listed`: in the upstream's own names. Undefined: it has no list, so all that the facts know of its provider. */
export function offeredModels(
  { upstream, byKind }: Extract<TriedUpstream, { upstream: Upstream }>,
  listed: readonly string[] | undefined,
  facts: Facts = builtInFacts(),
): readonly OfferedModel[] {
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

/** What the facts call a model that the upstream has under this name. */
function publicId(provider: ProviderFacts | undefined, name: string): string {
  const found = factsOf(provider, name)
  if (found) return found.id
  const renamed = Object.entries(provider?.models ?? {}).find(
    ([, { upstreamModel }]) => upstreamModel === name,
  )
  // Ollama lists its tags; the newest needs no mention.
  return renamed?.[0] ?? name.replace(/:latest$/, '')
}
