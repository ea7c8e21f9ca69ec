/** Opens the catalog in force, and follows the configuration file. */
import { listModels } from '#core/catalog/catalog.ts'
import { withStoredPrices } from '#config/build/stored-prices.ts'
import { ThreadLoading } from '#config/load-in-thread.ts'
import { lateChanges, type LoadedConfig } from '#config/load.ts'
import { watchConfig, type ConfigWatch, type FileLook } from '#config/reload.ts'
import type { Environment } from '#config/file/variable.ts'
import { CatalogInForce, type CatalogLog } from '#worker/catalog/in-force.ts'
import { ListedEnds } from '#worker/catalog/listed-ends.ts'
import { StoredPrices } from '#worker/catalog/stored-prices.ts'
import type { Basics } from './basics.ts'
import type { ConfigAudit } from './config-audit.ts'
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

type Completing = 'credentials' | 'upstreams' | 'prices' | 'modelEnds'

/** From now on upstreams, models, credentials, prices and ends of the store are in force too. */
export function completeCatalog(
  catalog: CatalogInForce,
  basics: Basics,
  { credentials, upstreams, prices: store, modelEnds }: Pick<Stores, Completing>,
): Promise<void> {
  const log = logTo(basics)
  const prices = new StoredPrices({ store, withPrices: withStoredPrices, log })
  return catalog.useStores({ credentials, upstreams, prices, ends: new ListedEnds(modelEnds, log) })
}

function logTo({ log }: Basics): CatalogLog {
  return {
    warn: (text, error) => (error === undefined ? log.warn(text) : log.warn({ err: error }, text)),
    error: (text, error) => log.error({ err: error }, text),
  }
}

/** Loads the configuration again whenever its file or one of its secret files changes. A faulty one changes nothing. */
export function watchFile(
  basics: Basics,
  env: Environment,
  catalog: CatalogInForce,
  { since, audit }: { readonly since: FileLook | undefined; readonly audit: ConfigAudit },
): ConfigWatch {
  const { settings, clock, log, metrics } = basics
  metrics.node.configLoaded(clock.nowMs(), since?.digest ?? '')
  if (settings.configFile === undefined || since === undefined) return { reload() {}, close() {} }
  const file = settings.configFile
  const loading = new ThreadLoading()
  const watch = watchConfig({
    file,
    env,
    since,
    intervalMs: RELOAD_INTERVAL_MS,
    load: () => loading.load(settings, env),
    async onGood(loaded) {
      const before = catalog.configured
      await catalog.declare(loaded)
      audit.note(loaded.catalog, loaded.digest, before)
      metrics.node.configLoaded(clock.nowMs(), loaded.digest)
      log.info({ models: listModels(loaded.catalog).length }, 'configuration reloaded')
      for (const warning of lateChanges(basics, loaded)) log.warn(warning)
    },
    onBad(problems) {
      catalog.refuse(problems, clock.nowMs())
      metrics.node.configRefused()
      log.error(
        { problems },
        'the configuration or a secret file of it is wrong; the last good one stays in use',
      )
    },
  })
  return {
    reload: () => watch.reload(),
    close() {
      watch.close()
      void loading.close()
    },
  }
}
