/** What a node knows before it opens anything: its configuration, its secrets, its clock, its log. */
import { loadCatalog, type LoadedConfig } from '#config/load.ts'
import { lookAt } from '#config/reload.ts'
import { storeUrlNow, type StoreVariable } from '#config/store-url.ts'
import { unknownVariables } from '#config/unknown-variables.ts'
import type { Environment } from '#config/file/variable.ts'
import type { Settings } from '#core/settings.ts'
import { BodyRoom } from '#http/gate/body-room.ts'
import { nodeClock } from '#runtime/clock.ts'
import { makeDataFolder } from '#runtime/data-folder.ts'
import { diskSpace } from '#runtime/disk-room.ts'
import { uuidv7Identifiers } from '#runtime/identifiers.ts'
import { loadDemoKey, loadSecret } from '#runtime/secret.ts'
import type { Log } from '#telemetry/log.ts'
import { Metrics } from '#telemetry/metrics.ts'
import { SecurityLog } from '#telemetry/security-log.ts'
import { commit, version, type Basics } from './basics.ts'

interface Prepared {
  /** The configuration file when it was read. Undefined: there is none. */
  readonly seen: ReturnType<typeof lookAt> | undefined
  readonly loaded: LoadedConfig
  readonly basics: Basics
  /** The key of a first start. Undefined: the configuration or the environment can hold one. */
  readonly demoKey: string | undefined
}

export function prepare(settings: Settings, env: Environment, log: Log): Prepared {
  const seen = settings.configFile === undefined ? undefined : lookAt(settings.configFile, env)
  const loaded = loadCatalog(settings, env)
  for (const warning of loaded.warnings) log.warn(warning)
  for (const warning of unknownVariables(env, settings.configFile)) log.warn(warning)
  makeDataFolder(settings.dataDir)
  return { seen, loaded, basics: basicsOf(settings, env, loaded, log), demoKey: demoKeyOf(settings) }
}

function basicsOf(settings: Settings, env: Environment, loaded: LoadedConfig, log: Log): Basics {
  const { limits, cors, playground, ledger } = loaded
  const secrets = {
    current: loadSecret(settings.secret, settings.dataDir),
    previous: settings.previousSecret,
  }
  const clock = nodeClock()
  const identifiers = uuidv7Identifiers(clock)
  const security = new SecurityLog(log, clock)
  const metrics = new Metrics({ version, commit }, security)
  metrics.node.readDisk(() => diskSpace(settings.dataDir))
  const storeUrls = storeUrlsOf(settings, env, log)
  return {
    settings,
    storeUrls,
    limits,
    cors,
    playground,
    ledger,
    secrets,
    clock,
    identifiers,
    log,
    metrics,
    security,
    bodyRoom: new BodyRoom(limits),
  }
}

function storeUrlsOf(
  { database, redisUrl, cacheUrl }: Settings,
  env: Environment,
  log: Log,
): Basics['storeUrls'] {
  const onProblem = (problem: string): void =>
    log.error(`${problem}; new connections use the last good user and password`)
  const now = (name: StoreVariable, url: string | undefined) =>
    url === undefined ? undefined : storeUrlNow(name, { url, env, onProblem })
  return {
    database: now('DATABASE_URL', database.kind === 'postgres' ? database.url : undefined),
    redis: now('REDIS_URL', redisUrl),
    cache: now('CACHE_URL', cacheUrl),
  }
}

/** A first start without any configuration needs a key. */
function demoKeyOf({ configFile, bootstrapKey, dataDir }: Settings): string | undefined {
  return configFile === undefined && bootstrapKey === undefined ? loadDemoKey(dataDir) : undefined
}
