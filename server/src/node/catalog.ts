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
import { CatalogInForce, type CatalogLog } from '#worker/catalog/in-force.ts'
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

/** From now on upstreams, models, credentials and prices of the store are in force too. */
export function completeCatalog(catalog: CatalogInForce, basics: Basics, stores: Stores): Promise<void> {
  const { credentials, configuration: objects, prices: store } = stores
  const log = logTo(basics)
  const prices = new StoredPrices({ store, withPrices: withStoredPrices, log })
  return catalog.useStores({ credentials, objects, prices })
}

function logTo({ log }: Basics): CatalogLog {
  return {
    warn: (text, error) => (error === undefined ? log.warn(text) : log.warn({ err: error }, text)),
    error: (text, error) => log.error({ err: error }, text),
  }
}

/** The configuration of this node, which is loaded again when its file changes. */
export type FollowedConfiguration = ReturnType<typeof followConfiguration>

interface FollowParts {
  readonly catalog: CatalogInForce
  readonly audit: ConfigAudit
  /** The file at the start. Undefined: there is none. */
  readonly since: FileLook | undefined
  readonly loaded: LoadedConfig
}

/** Loads the configuration again whenever its file or a secret file changes. A faulty one changes nothing. */
export function followConfiguration(
  basics: Basics,
  env: Environment,
  { catalog, audit, since, ...parts }: FollowParts,
) {
  const { settings, clock, log, metrics } = basics
  metrics.node.configLoaded(clock.nowMs(), since?.digest ?? '')
  const loading = new ThreadLoading()
  let { loaded } = parts
  const watch = (file: string, first: FileLook): ConfigWatch =>
    watchConfig<ReloadedConfig>({
      file,
      env,
      since: first,
      intervalMs: RELOAD_INTERVAL_MS,
      load: () => loading.load(settings, env),
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
          'the configuration or a secret file of it is wrong; the last good one stays in use',
        )
      },
    })
  const watched =
    settings.configFile === undefined || since === undefined ? undefined : watch(settings.configFile, since)
  /** One torana.yaml of it and what the store adds. */
  const exported: ExportConfiguration = (parts) => {
    const { text, base, extend } = loaded
    return loading.exported({ text, file: base.file, catalog: extend(parts.objects).catalog }, parts)
  }
  return {
    exported,
    reload: () => watched?.reload(),
    close() {
      watched?.close()
      void loading.close()
    },
  }
}
