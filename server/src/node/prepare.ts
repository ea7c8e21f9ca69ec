/** What a node knows before it opens anything: its configuration, its secrets, its clock, its log. */
import { ConfigError } from '#config/file/problem.ts'
import { loadCatalog, type LoadedConfig } from '#config/load.ts'
import { lookAt } from '#config/reload.ts'
import { storeUrlNow, type StoreVariable } from '#config/store-url.ts'
import { unknownVariables } from '#config/unknown-variables.ts'
import type { Environment } from '#config/file/variable.ts'
import { Fault } from '#core/fault/fault.ts'
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
import type { UsedFeed } from '#worker/catalog/feed.ts'
import { commit, version, type Basics } from './basics.ts'
import { builtInFeed, copiedFeed } from './feed.ts'
import { feedInDatabase } from './stored-feed.ts'

interface Prepared {
  /** The configuration file when it was read. Undefined: there is none. */
  readonly seen: ReturnType<typeof lookAt> | undefined
  readonly loaded: LoadedConfig
  /** The catalogue that it was loaded with. */
  readonly used: UsedFeed
  readonly basics: Basics
  /** The key of a first start. Undefined: the configuration or the environment can hold one. */
  readonly demoKey: string | undefined
}

export async function prepare(settings: Settings, env: Environment, log: Log): Promise<Prepared> {
  const seen = settings.configFile === undefined ? undefined : lookAt(settings.configFile, env)
  const { loaded, used } = await firstLoad(settings, env, log)
  for (const warning of loaded.warnings) log.warn(warning)
  for (const warning of unknownVariables(env, settings.configFile)) log.warn(warning)
  makeDataFolder(settings.dataDir)
  return { seen, loaded, used, basics: basicsOf(settings, env, loaded, log), demoKey: demoKeyOf(settings) }
}

/**
 * The store says later which catalogue is in force. Until then the copy in the data folder counts, else the catalogue in the
 * program. A configuration that fits neither may name models that only a stored feed knows: then the database is asked.
 */
async function firstLoad(
  settings: Settings,
  env: Environment,
  log: Log,
): Promise<Pick<Prepared, 'loaded' | 'used'>> {
  const load = (used: UsedFeed) => ({ loaded: loadCatalog(settings, env, used.document), used })
  const copied = copiedFeed(settings.dataDir)
  try {
    return load(copied ?? builtInFeed())
  } catch (error) {
    if (!(error instanceof ConfigError || error instanceof Fault)) throw error
    const others = [await feedInDatabase(settings.database, log), copied && builtInFeed()]
    for (const other of others) {
      try {
        if (other !== undefined) return load(other)
      } catch (again) {
        if (!(again instanceof ConfigError || again instanceof Fault)) throw again
      }
    }
    throw error instanceof Fault ? new ConfigError([error.message]) : error
  }
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
