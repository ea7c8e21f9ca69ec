/** The differences between two configurations, by name: for the audit. Values are left out, because some are secret. */
import { listModels, upstreamsOf, type Catalog } from '#core/catalog/catalog.ts'

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
  readonly alerts: NamedChanges
}

/** A file with thousands of models that were all renamed must not fill the audit. */
const MAX_NAMES = 100

/** All that a configuration means, each item as text. It holds secrets. */
export interface ConfigItems {
  readonly models: Items
  readonly upstreams: Items
  readonly projects: Items
  readonly keys: Items
  /** Rules and channels. */
  readonly alerts: Items
}

/** Their texts take about two milliseconds. */
const KEYS_AT_ONCE = 500

/** `pause` lets others have the event loop. */
export async function itemsIn(catalog: Catalog, pause: Pause): Promise<ConfigItems> {
  const keys = new Map<string, string>()
  for (const project of catalog.projects)
    for (const key of project.keys) {
      if (keys.size % KEYS_AT_ONCE === KEYS_AT_ONCE - 1) await pause()
      keys.set(`${project.name}/${key.name}`, itemText({ ...key, managedAt: undefined }))
    }
  await pause()
  return {
    models: modelsIn(catalog),
    upstreams: upstreamsIn(catalog),
    projects: projectsIn(catalog),
    keys,
    alerts: alertsIn(catalog),
  }
}

export function whatChanged(before: ConfigItems, after: ConfigItems): ConfigChanges {
  return {
    models: changesOf(before.models, after.models),
    upstreams: changesOf(before.upstreams, after.upstreams),
    projects: changesOf(before.projects, after.projects),
    keys: changesOf(before.keys, after.keys),
    alerts: changesOf(before.alerts, after.alerts),
  }
}

/** Text that is equal where two configurations mean the same. It holds secrets. */
export function configurationText(items: ConfigItems): string {
  return Object.values(knownToAll(items)).map(textOfItems).join('\0\0')
}

/** Without `alerts` where there are none: such a file has the text of versions that knew none. */
function knownToAll({ alerts, ...others }: ConfigItems): Readonly<Record<string, Items>> {
  return { ...others, ...(alerts.size > 0 && { alerts }) }
}

/** The same for one section of it. */
function textOfItems(items: Items): string {
  // No name and no JSON has this character in it.
  return [...items].flat().join('\0')
}

type DigestOf = (text: string) => string
export type Pause = () => Promise<void>

export interface LoadDetail extends Readonly<Record<string, unknown>> {
  /** The digest of what the configuration means. */
  readonly digest: string
  /** The digest of its file. */
  readonly file: string
  readonly changed?: Readonly<Record<string, unknown>>
}

/** One load of a configuration, for the audit. `before` is undefined at the start of a node. Use a keyed digest: it covers secrets. */
export async function loadDetail(
  { after, before, file }: { after: Catalog; before: Catalog | undefined; file: string },
  digestOf: DigestOf,
  pause: Pause,
): Promise<LoadDetail> {
  const items = await itemsIn(after, pause)
  const known = before && (await itemsIn(before, pause))
  const digest = digestOf(configurationText(items))
  await pause()
  return { digest, file, ...(known && { changed: { ...whatChanged(known, items) } }) }
}

/**
 * A digest of each section, by which nodes compare their configurations. Prices are a section of their own, although models
 * have them: nodes that charge differently are the worst case.
 */
export async function sectionDigests(
  catalog: Catalog,
  digestOf: DigestOf,
  pause: Pause,
): Promise<Readonly<Record<string, string>>> {
  const items = knownToAll(await itemsIn(catalog, pause))
  const prices = new Map(
    listModels(catalog).flatMap(({ deployments }) =>
      deployments.map(({ id, price }): [string, string] => [id, itemText(price ?? null)]),
    ),
  )
  const digests: Record<string, string> = {}
  for (const [section, of] of Object.entries({ prices, ...items })) {
    digests[section] = digestOf(textOfItems(of))
    await pause()
  }
  return digests
}

/** Each item as text that is equal where the items are. */
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
      const own = model.deployments.map(({ upstream, managedBy: _line, ...deployment }) => ({
        ...deployment,
        on: upstream.name,
      }))
      return [model.id, itemText({ ...model, deployments: own, managedBy: undefined })]
    }),
  )
}

function upstreamsIn(catalog: Catalog): Items {
  return new Map(upstreamsOf(catalog).map((upstream) => [upstream.name, itemText(upstream)]))
}

function alertsIn({ alerts }: Catalog): Items {
  const named = [
    ...(alerts?.channels ?? []).map((one) => ({ ...one, id: `channel ${one.name}` })),
    ...(alerts?.rules ?? []).map((one) => ({ ...one, id: `rule ${one.name}` })),
  ]
  return new Map(named.map(({ id, ...one }) => [id, itemText({ ...one, managedBy: undefined })]))
}

function projectsIn({ projects }: Catalog): Items {
  return new Map(
    projects.map((project) => [
      project.name,
      itemText({ ...project, keys: undefined, managedAt: undefined }),
    ]),
  )
}

/** JSON has no integers of 64 bits, and leaves out undefined: the line of an entry is no part of it. */
function itemText(value: unknown): string {
  return JSON.stringify(value, (_, part: unknown) => (typeof part === 'bigint' ? `${part}n` : part))
}
