/** What a node knows before it opens anything: its configuration, its secrets, its clock, its log. */
import { loadCatalog } from '#config/load.ts'
import { lookAt } from '#config/reload.ts'
import { unknownVariables } from '#config/unknown-variables.ts'
import type { Environment } from '#config/file/variable.ts'
import type { Settings } from '#core/settings.ts'
import { makeDataFolder } from '#runtime/data-folder.ts'
import { loadDemoKey } from '#runtime/secret.ts'
import type { Log } from '#telemetry/log.ts'
import { makeBasics } from './basics.ts'

export function prepare(settings: Settings, env: Environment, log: Log) {
  /** The configuration file when it was read. Undefined: there is none. */
  const seen = settings.configFile === undefined ? undefined : lookAt(settings.configFile, env)
  const loaded = loadCatalog(settings, env)
  for (const warning of loaded.warnings) log.warn(warning)
  for (const warning of unknownVariables(env, settings.configFile)) log.warn(warning)
  makeDataFolder(settings.dataDir)
  const basics = makeBasics(settings, env, loaded, log)
  /** The key of a first start. Undefined: the configuration or the environment can hold one. */
  const demoKey = demoKeyOf(settings)
  return { seen, loaded, basics, demoKey }
}

/** A first start without any configuration needs a key. */
function demoKeyOf({ configFile, bootstrapKey, dataDir }: Settings): string | undefined {
  return configFile === undefined && bootstrapKey === undefined ? loadDemoKey(dataDir) : undefined
}
