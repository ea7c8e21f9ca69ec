/** Opens the catalog in force, and follows the configuration file. */
import { listModels } from '#core/catalog/catalog.ts'
import { withStoredPrices } from '#config/build/stored-prices.ts'
import { ThreadLoading, type ReloadedConfig } from '#config/load-in-thread.ts'
import { lateChanges, type LoadedConfig } from '#config/load.ts'
import { reloadText } from '#config/reload-text.ts'
import { watchConfig, type ConfigWatch, type FileLook } from '#config/reload.ts'
import type { Environment } from '#config/file/variable.ts'
import type { ExportConfiguration } from '#ports/stored-configuration.ts'
import { yieldLoop } from '#runtime/event-loop.ts'
import { FeedInForce, type UsedFeed } from '#worker/catalog/feed.ts'
import { CatalogInForce, type CatalogLog } from '#worker/catalog/in-force.ts'
import { ListedEnds } from '#worker/catalog/listed-ends.ts'
import { StoredPrices } from '#worker/catalog/stored-prices.ts'
import type { Basics } from './basics.ts'
import type { ConfigAudit } from './config-audit.ts'
import { builtInFeed, keepCopy } from './feed.ts'
import type { Stores } from './stores.ts'

/** Interval of checks whether the configuration file changed. */
const RELOAD_INTERVAL_MS = 1000

export function catalogOf(
  basics: Basics,
  configuration: LoadedConfig,
  firstKey: string | undefined,
): CatalogInForce {
  return new CatalogInForce(configuration, { firstKey, log: logTo(basics) })
}

type Completing = 'credentials' | 'configuration' | 'prices' | 'modelEnds'

/** From now on upstreams, models, credentials, prices, ends and the catalogue feed of the store are in force too. */
export function completeCatalog(
  catalog: CatalogInForce,
  basics: Basics,
  {
    stores,
    configuration,
  }: { readonly stores: Pick<Stores, Completing>; readonly configuration: FollowedConfiguration },
): Promise<void> {
  const { credentials, configuration: objects, prices: store, modelEnds } = stores
  const log = logTo(basics)
  const prices = new StoredPrices({ store, withPrices: withStoredPrices, log })
  const ends = new ListedEnds(modelEnds, log)
  return catalog.useStores({ credentials, objects, feed: configuration.feed, prices, ends })
}

function logTo({ log }: Basics): CatalogLog {
  return {
    warn: (text, error) => (error === undefined ? log.warn(text) : log.warn({ err: error }, text)),
    error: (text, error) => log.error({ err: error }, text),
  }
}

/** The configuration of this node, which is loaded again when its file or the catalogue changes. */
export interface FollowedConfiguration extends ConfigWatch {
  /** The one in force. */
  readonly loaded: () => LoadedConfig
  readonly feed: FeedInForce
  /** One torana.yaml of it and what the store adds. */
  readonly exported: ExportConfiguration
  /** Loads it with the facts of a document, and puts nothing in force. Undefined: the catalogue in the program. */
  readonly loadWith: (document: string | undefined) => Promise<LoadedConfig>
}

export interface FollowParts {
  readonly catalog: CatalogInForce
  readonly stores: Pick<Stores, 'feeds'>
  readonly audit: ConfigAudit
  /** The file at the start. Undefined: there is none. */
  readonly since: FileLook | undefined
  readonly loaded: LoadedConfig
  /** The catalogue that it was loaded with. */
  readonly used: UsedFeed
}

/** Loads the configuration again whenever its file, a secret file or the catalogue changes. A faulty one changes nothing. */
export function followConfiguration(
  basics: Basics,
  env: Environment,
  { catalog, stores, audit, since, used, ...parts }: FollowParts,
): FollowedConfiguration {
  const { settings, clock, log, metrics } = basics
  metrics.node.configLoaded(clock.nowMs(), since?.digest ?? '')
  const loading = new ThreadLoading()
  let { loaded } = parts
  const watch = watchConfig<ReloadedConfig>({
    file: settings.configFile,
    env,
    since,
    intervalMs: RELOAD_INTERVAL_MS,
    load: () => loading.load(settings, env, feed.used.document),
    async onGood(next) {
      const before = catalog.configured
      await catalog.declare(next)
      loaded = next
      audit.note(next.catalog, next.digest, before)
      metrics.node.configLoaded(clock.nowMs(), next.digest)
      const changes = await reloadText(before, next.catalog, yieldLoop)
      log.info({ models: listModels(next.catalog).length }, `configuration reloaded: ${changes}`)
      for (const warning of lateChanges(basics, next)) log.warn(warning)
    },
    onBad(problems) {
      catalog.refuse(problems, clock.nowMs())
      metrics.node.configRefused()
      log.error(
        { problems },
        'the configuration, a secret file of it or the catalogue in force is wrong; the last good one stays in use',
      )
    },
  })
  const feed = new FeedInForce({
    store: stores.feeds,
    builtInSequence: builtInFeed().sequence,
    used,
    reload: () => watch.reload(),
    keep: (next) => keepCopy(settings.dataDir, next),
    log: logTo(basics),
  })
  return {
    feed,
    loaded: () => loaded,
    loadWith: (document) => loading.load(settings, env, document),
    exported: (parts) => {
      const { text, base, extend } = loaded
      return loading.exported({ text, file: base.file, catalog: extend(parts.objects).catalog }, parts)
    },
    reload: () => watch.reload(),
    close() {
      watch.close()
      void loading.close()
    },
  }
}
