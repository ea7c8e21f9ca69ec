/** Upstreams and models of the store, built by the same code as those of torana.yaml, and put beside them. */
import type { z } from 'zod'
import type { Catalog, Model } from '#core/catalog/catalog.ts'
import { plainReport, type Path, type Report } from '../file/problem.ts'
import { model as modelSchema } from '../schema/schema.ts'
import { upstream as upstreamSchema } from '../schema/upstream.ts'
import { buildRetired, buildUpstreams, knownUpstreams, type AdditionInput } from './build.ts'
import type { Facts } from './facts.ts'
import { buildModel } from './model.ts'
import { buildUpstream, type UpstreamByKind } from './upstream.ts'

/** Entries in the form of torana.yaml, as unchecked plain values. */
export interface ConfigAdditions {
  /** By name. */
  readonly upstreams: Readonly<Record<string, unknown>>
  /** By public id. */
  readonly models: Readonly<Record<string, unknown>>
}

export interface ExtendedCatalog {
  readonly catalog: Catalog
  /** The entries that were left out, and why. */
  readonly problems: readonly string[]
}

/** A name in the configuration takes precedence. A faulty entry is left out, and affects no other. */
export function extendCatalog(
  declared: Catalog,
  additions: ConfigAdditions,
  input: AdditionInput,
): ExtendedCatalog {
  const problems: string[] = []
  const muted = { ...input, report: plainReport('') }
  const own = buildUpstreams(muted)
  const added = new Map<string, UpstreamByKind>()
  for (const [name, entry] of Object.entries(additions.upstreams)) {
    if (input.declared.upstreams.includes(name)) continue
    const report = plainReport('store')
    const read = readEntry(upstreamSchema, entry, ['upstreams', name], report)
    const upstream = read && buildUpstream(name, read, input.facts, report)
    problems.push(...report.problems())
    if (upstream) added.set(name, upstream)
  }
  const upstreams = new Map([...own, ...added])
  const models = new Map(declared.models)
  const families = new Set(
    [...models.values()].flatMap((model) => (model.kind === 'embedding' ? (model.family?.name ?? []) : [])),
  )
  for (const [id, entry] of Object.entries(additions.models)) {
    if (models.has(id)) continue
    const report = plainReport('store')
    if (families.has(id)) report.problem(['models', id], `${id} is the name of a family in the configuration`)
    const model = readModel(id, entry, { ...input, report }, upstreams)
    problems.push(...report.problems())
    if (model && report.problems().length === 0) models.set(id, model)
  }
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

function readModel(
  id: string,
  entry: unknown,
  { facts, report }: { readonly facts: Facts; readonly report: Report },
  upstreams: ReadonlyMap<string, UpstreamByKind>,
): Model | undefined {
  const read = readEntry(modelSchema, entry, ['models', id], report)
  return read && buildModel(id, read, { upstreams, declaredUpstreams: [...upstreams.keys()], facts, report })
}

function readEntry<Value>(
  schema: z.ZodType<Value>,
  entry: unknown,
  path: Path,
  report: Report,
): Value | undefined {
  const read = schema.safeParse(entry)
  for (const issue of read.error?.issues ?? [])
    report.problem([...path, ...issue.path.map(String)], issue.message)
  return read.data
}
