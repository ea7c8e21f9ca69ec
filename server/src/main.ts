/** The composition root: what a node is made of, in the order in which it is opened, and how it ends. */
import { existsSync } from 'node:fs'
import { BodyRoom } from '#http/gate/body-room.ts'
import { openAccounts } from '#compose/accounts.ts'
import { backupFor } from '#compose/backup.ts'
import { openBulk } from '#compose/bulk.ts'
import { commit, version, type Basics } from '#compose/basics.ts'
import { CatalogInForce, watchFile } from '#compose/catalog.ts'
import { openConfigAudit } from '#compose/config-audit.ts'
import { watchCertificate } from '#compose/certificate.ts'
import { openControl, type Peers } from '#compose/control.ts'
import { openDatabaseStores } from '#compose/database.ts'
import { openDirectory } from '#compose/directory.ts'
import { Ending, type StopOptions } from '#compose/ending.ts'
import { openGateway } from '#compose/gateway.ts'
import { openImages } from '#compose/images.ts'
import { openLive } from '#compose/live.ts'
import type { Listeners } from '#compose/listeners.ts'
import { liveRequests } from '#compose/live-requests.ts'
import { openMemoryStores } from '#compose/memory.ts'
import { outsideOf } from '#compose/outside.ts'
import { modelsFor } from '#compose/models.ts'
import { openNodeSetup } from '#compose/node-setup.ts'
import { openPeople } from '#compose/people.ts'
import { NodeReadiness } from '#compose/readiness.ts'
import { settingsFor } from '#compose/settings.ts'
import { openSharing } from '#compose/sharing.ts'
import { openSpaces } from '#compose/spaces.ts'
import type { StoreParts, Stores } from '#compose/stores.ts'
import { openTraces } from '#compose/traces.ts'
import { trafficRoutes } from '#compose/traffic-routes.ts'
import { openTraffic } from '#compose/traffic.ts'
import { openUpstreams } from '#compose/upstreams.ts'
import { openWebhooks, webhooksFor } from '#compose/webhooks.ts'
import { unknownVariables } from '#config/unknown-variables.ts'
import type { Environment } from '#config/file/variable.ts'
import { loadCatalog, type LoadedConfig } from '#config/load.ts'
import { lookAt } from '#config/reload.ts'
import { storeUrlNow, type StoreVariable } from '#config/store-url.ts'
import { listModels, type Catalog } from '#core/catalog.ts'
import type { Settings } from '#core/settings.ts'
import { systemClock } from '#runtime/clock.ts'
import { diskSpace } from '#runtime/disk-room.ts'
import { makeDataFolder } from '#runtime/data-folder.ts'
import { uuidv7Identifiers } from '#runtime/identifiers.ts'
import { WorkerJson } from '#runtime/json.ts'
import { loadDemoKey, loadSecret } from '#runtime/secret.ts'
import { WorkerTokenCounter } from '#runtime/tokenizer.ts'
import { openLog, type Log } from '#telemetry/log.ts'
import { Metrics, type MetricsText } from '#telemetry/metrics.ts'
import { SecurityLog } from '#telemetry/security-log.ts'

export interface Node {
  /** Where the public listener answers, without a path. */
  readonly url: string
  readonly controlUrl: string
  readonly catalog: () => Catalog
  /** Whether there was a key at the start. Without one no caller is let in. */
  readonly hasKeys: boolean
  /** The key made for a first start, when there is no configuration that could hold one. */
  readonly demoKey: string | undefined
  /** Where somebody becomes the first admin; undefined: there is a member already, or nothing is kept. */
  readonly welcomeUrl: string | undefined
  /** What this process has counted. */
  readonly metrics: () => Promise<MetricsText>
  /** Reads torana.yaml again; a bad file changes nothing. */
  reload(): void
  /** Resolves when the node has stopped by itself, because an operator or another node ended it. */
  readonly ended: Promise<void>
  /**
   * Lets requests under way end, then lets go of everything. Takes no longer than `limits.drainMs` and two seconds. A second
   * call gets the same promise.
   */
  stop(options?: StopOptions): Promise<void>
}

export interface StartOptions {
  /** Gives up the start when it aborts. */
  readonly told?: AbortSignal
  /** Hears what takes a while, for a person who waits. */
  readonly say?: (line: string) => void
  /** Other processes at the same addresses; undefined: there are none. */
  readonly peers?: Peers | undefined
}

/**
 * The ports are bound already, so that a taken one is told before anything else is opened. When `told` aborts, the start is
 * given up: whatever was opened is closed again, and its reason is thrown.
 */
export async function startNode(
  settings: Settings,
  env: Environment,
  listeners: Listeners,
  { told = new AbortController().signal, say = () => {}, peers }: StartOptions = {},
): Promise<Node> {
  // Parts end in the reverse order: when the node stops, or at once when one of them can't be opened.
  await using opened = new AsyncDisposableStack()
  const log = openLog(settings.logLevel, settings.logFormat)
  let isStarted = false
  opened.defer(() => {
    if (isStarted || told.aborted) log.info('stopped')
    log.close()
  })
  opened.use(listeners)
  told.throwIfAborted()
  const { seen, loaded, basics } = prepared(settings, env, log)
  const demoKey = demoKeyOf(settings)
  const catalog = new CatalogInForce(loaded, settings.bootstrapKey ?? demoKey, log)
  const publicUrl = settings.publicUrl ?? listeners.url
  const ended = Promise.withResolvers<void>()

  const tokens = opened.adopt(new WorkerTokenCounter(), (one) => one.close())
  const json = opened.adopt(new WorkerJson(loaded.limits), (one) => one.close())
  const upstreams = opened.use(openUpstreams(basics))
  // Asked when a batch ends, and none does before the guard is there.
  const hasLeftSpace: StoreParts['hasLeftSpace'] = (made) => spaces.guard.hasLeft(made)
  const storeParts = { webhooksFor: webhooksFor(catalog), hasLeftSpace, onEnded: () => ended.resolve() }
  const stores = opened.use(await openStores(basics, storeParts, say))
  told.throwIfAborted()
  const configAudit = opened.use(openConfigAudit(basics, stores.audit))
  const webhooks = opened.use(openWebhooks(basics, { stores, catalog }))
  const directory = opened.use(await openDirectory(basics, { stores, catalog }))
  const { terms } = directory
  const marks = { budgetInForce: directory.budgetInForce, onBudgetMark: webhooks.budgetMark }
  const accounts = opened.use(await openAccounts(basics, { stores, catalog, ...marks }))
  await catalog.useStores(stores)
  told.throwIfAborted()
  const traffic = opened.use(openTraffic(basics, { catalog, liveNodes: stores.liveNodes }))
  const { scheduler } = traffic
  const live = opened.use(await openLive(basics, { stores, catalog, scheduler }))
  const { traces } = opened.use(openTraces(basics, catalog))
  const outside = outsideOf(basics, { stores, accounts, upstreams, tokens, live, traces })
  const spaces = opened.use(
    await openSpaces(basics, { stores, catalog, scheduler, outside, upstreams, told }),
  )
  live.explainBy((deployment) => spaces.guard.standingOf(deployment)?.reason)
  told.throwIfAborted()
  const sharing = opened.use(openSharing(basics, { isTrusted: (...made) => spaces.guard.isTrusted(...made) }))
  const made = { stores, accounts, catalog, outside, upstreams, terms, publicUrl }
  const images = opened.use(await openImages(basics, { ...made, dispatch: traffic.dispatch }))
  const engine = { stores, catalog, outside, traffic, sharing, spaces, images, json, terms, publicUrl }
  opened.use(openNodeSetup(basics, { stores, catalog, blobs: images.blobs }))
  const bulk = opened.use(await openBulk(basics, { ...engine, blobs: images.blobs }))
  const readiness = new NodeReadiness(basics, { listeners, directory, stores, catalog, told, ended })
  const shown = { readiness, publicUrl, directory, spaces, listeners, sharing }
  const calls = { outside, traces, traffic, sharing, images, bulk, json, liveNodes: stores.liveNodes }
  const { app: gateway, handlers } = await openGateway(basics, { ...shown, ...calls })
  const models = modelsFor(basics, { catalog, stores, upstreams, live, spaces, sharing })
  const { url, controlUrl } = listeners
  const { nodeFigures } = accounts.books ?? {}
  const people = opened.use(await openPeople(basics, { stores, catalog, publicUrl, controlUrl }))
  const { control, commands } = openControl(basics, {
    ...shown,
    peers,
    handlers,
    scheduler,
    settings: settingsFor(basics, { stores, nodeFigures, publicUrl, controlUrl }),
    catalog,
    accounts,
    models,
    stores,
    images,
    bulk,
    backup: await backupFor(basics, stores, images.blobs.store),
    people,
    topics: liveRequests(basics, stores),
    trafficRoutes: trafficRoutes(basics, { catalog, stores, live, spaces, outside, images }),
  })
  told.throwIfAborted()
  await listeners.openSocket(settings, commands, log)
  await listeners.open({ gateway, control }, loaded.limits, basics.metrics.traffic, readiness.serving)
  opened.use(watchCertificate(basics, listeners))
  log.info({ url, controlUrl, models: listModels(catalog.current).length, version }, 'ready')
  configAudit.note(catalog.declared, seen?.digest ?? '')
  const file = watchFile(basics, env, catalog, { since: seen, audit: configAudit })
  isStarted = true

  const drained = { listeners, images, bulk, stores }
  const ending = new Ending(basics, { file, readiness, ...drained, parts: opened.move() })
  const stop = (options?: StopOptions): Promise<void> => ending.stop(options)
  return {
    url,
    controlUrl,
    catalog: () => catalog.current,
    hasKeys: directory.hasKeys,
    demoKey,
    welcomeUrl: people.welcomeUrl,
    metrics: () => basics.metrics.text(),
    reload: () => file.reload(),
    // A node that is ended while it starts stops as soon as it has started.
    ended: ended.promise.then(() => stop()),
    stop,
  }
}

interface Prepared {
  /** The configuration as it lay there when it was read. */
  readonly seen: ReturnType<typeof lookAt> | undefined
  readonly loaded: LoadedConfig
  readonly basics: Basics
}

/** What is known before anything is opened. */
function prepared(settings: Settings, env: Environment, log: Log): Prepared {
  const seen = settings.configFile === undefined ? undefined : lookAt(settings.configFile, env)
  const loaded = loadCatalog(settings, env)
  for (const warning of loaded.warnings) log.warn(warning)
  for (const warning of unknownVariables(env, settings.configFile)) log.warn(warning)
  makeDataFolder(settings.dataDir)
  return { seen, loaded, basics: basicsOf(settings, env, loaded, log) }
}

function basicsOf(settings: Settings, env: Environment, loaded: LoadedConfig, log: Log): Basics {
  const { limits, cors, playground } = loaded
  const secrets = {
    current: loadSecret(settings.secret, settings.dataDir),
    previous: settings.previousSecret,
  }
  const clock = systemClock
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

function databaseLine({ database }: Settings): string {
  if (database.kind === 'memory') return 'Keeping nothing: DATABASE_URL is memory:'
  if (database.kind === 'postgres') return 'Opening the database of DATABASE_URL'
  return `${existsSync(database.folder) ? 'Opening' : 'Making'} the database in ${database.folder}`
}

/** Only a first start without any configuration needs one. */
function demoKeyOf({ configFile, bootstrapKey, dataDir }: Settings): string | undefined {
  return configFile === undefined && bootstrapKey === undefined ? loadDemoKey(dataDir) : undefined
}

function openStores(basics: Basics, parts: StoreParts, say: (line: string) => void): Promise<Stores> {
  say(databaseLine(basics.settings))
  const { database } = basics.settings
  return database.kind === 'memory'
    ? openMemoryStores(basics, parts)
    : openDatabaseStores(basics, database, parts)
}
