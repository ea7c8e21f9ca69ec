/** What differs between two configurations, by name: for the audit. Values stay out of it, because some are secret. */
import { listModels, upstreamsOf, type Catalog } from '#core/catalog.ts'

interface NamedChanges {
  readonly added: readonly string[]
  readonly removed: readonly string[]
  readonly changed: readonly string[]
}

interface ConfigChanges {
  readonly models: NamedChanges
  readonly upstreams: NamedChanges
  readonly projects: NamedChanges
  readonly keys: NamedChanges
}

/** A file with thousands of models that were all renamed must not fill the audit. */
const MAX_NAMES = 100

export function whatChanged(before: Catalog, after: Catalog): ConfigChanges {
  return {
    models: changesOf(modelsIn(before), modelsIn(after)),
    upstreams: changesOf(upstreamsIn(before), upstreamsIn(after)),
    projects: changesOf(projectsIn(before), projectsIn(after)),
    keys: changesOf(keysIn(before), keysIn(after)),
  }
}

/** All that a configuration means, as text that is equal where two mean the same. It holds secrets. */
export function configurationText(catalog: Catalog): string {
  const items = [modelsIn, upstreamsIn, projectsIn, keysIn].map((itemsIn) => [...itemsIn(catalog)])
  return JSON.stringify(items)
}

/** What an item is, as text that is equal where the items are. */
type Items = ReadonlyMap<string, string>

function changesOf(before: Items, after: Items): NamedChanges {
  const names = (items: Items, isOne: (name: string, text: string) => boolean): string[] =>
    [...items]
      .filter(([name, text]) => isOne(name, text))
      .map(([name]) => name)
      .slice(0, MAX_NAMES)
  return {
    added: names(after, (name) => !before.has(name)),
    removed: names(before, (name) => !after.has(name)),
    changed: names(after, (name, text) => before.has(name) && before.get(name) !== text),
  }
}

function modelsIn(catalog: Catalog): Items {
  return new Map(
    listModels(catalog).map((model) => {
      const own = model.deployments.map(({ upstream, ...deployment }) => ({
        ...deployment,
        on: upstream.name,
      }))
      return [model.id, textOf({ ...model, deployments: own, managedBy: undefined })]
    }),
  )
}

function upstreamsIn(catalog: Catalog): Items {
  return new Map(upstreamsOf(catalog).map((upstream) => [upstream.name, textOf(upstream)]))
}

function projectsIn({ projects }: Catalog): Items {
  return new Map(
    projects.map((project) => [project.name, textOf({ ...project, keys: undefined, managedAt: undefined })]),
  )
}

function keysIn({ projects }: Catalog): Items {
  return new Map(
    projects.flatMap(({ name, keys }) =>
      keys.map((key) => [`${name}/${key.name}`, textOf({ ...key, managedAt: undefined })] as const),
    ),
  )
}

/** JSON has no whole numbers of 64 bits, and leaves out what is undefined: the line where something stands is no part of it. */
function textOf(value: unknown): string {
  return JSON.stringify(value, (_, part: unknown) => (typeof part === 'bigint' ? `${part}n` : part))
}
