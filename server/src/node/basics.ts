import type { LoadedConfig } from '#config/load.ts'
import { storeUrlNow, type StoreVariable } from '#config/store-url.ts'
import type { Environment } from '#config/file/variable.ts'
import type { Settings } from '#core/settings.ts'
import { BodyRoom } from '#http/gate/body-room.ts'
import { readManifest } from '#package/files.ts'
import { nodeClock } from '#runtime/clock.ts'
import { diskSpace } from '#runtime/disk-room.ts'
import { uuidv7Identifiers } from '#runtime/identifiers.ts'
import { loadSecret } from '#runtime/secret.ts'
import type { Log } from '#telemetry/log.ts'
import { Metrics } from '#telemetry/metrics.ts'
import { SecurityLog } from '#telemetry/security-log.ts'

const manifest = readManifest()

export const { version } = manifest

/** The commit that this program was built from. Empty: not known. */
export const commit: string = manifest.commit ?? ''

/** Every part of a node is opened with them. */
export type Basics = ReturnType<typeof makeBasics>

export function makeBasics(settings: Settings, env: Environment, loaded: LoadedConfig, log: Log) {
  // As the file has them at the start.
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
    /** The memory for bodies that arrive, on either port. */
    bodyRoom: new BodyRoom(limits),
  }
}

/** URLs of stores for their next connections. */
function storeUrlsOf({ database, redisUrl, cacheUrl }: Settings, env: Environment, log: Log) {
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
