/** The composition root: settings → stores → upstreams → listeners, and the order in which they end. */
import { readFileSync } from 'node:fs'
import { openAccounts } from '#compose/accounts.ts'
import { openDirectory } from '#compose/directory.ts'
import { openImages } from '#compose/images.ts'
import type { Listeners } from '#compose/listeners.ts'
import { openSharing } from '#compose/sharing.ts'
import { openSpaces } from '#compose/spaces.ts'
import { openWebhooks } from '#compose/webhooks.ts'
import { loadCatalog } from '#config/load.ts'
import { watchConfig } from '#config/reload.ts'
import type { Environment } from '#config/file/variable.ts'
import { listModels, type Catalog, type Project, type Upstream } from '#core/catalog.ts'
import { RetryBudget } from '#core/schedule/retry-budget.ts'
import { Scheduler } from '#core/schedule/scheduler.ts'
import type { Settings } from '#core/settings.ts'
import type { Observer } from '#ports/observer.ts'
import { controlServer } from '#http/control/server.ts'
import { brakeOf } from '#http/gateway/brake.ts'
import { gatewayServer } from '#http/gateway/server.ts'
import { Dispatch } from '#request/traffic/dispatch.ts'
import { after, systemClock } from '#runtime/clock.ts'
import { uuidv7Identifiers } from '#runtime/identifiers.ts'
import { WorkerJson } from '#runtime/json.ts'
import { senseLoad } from '#runtime/load.ts'
import { loadDemoKey } from '#runtime/secret.ts'
import { WorkerTokenCounter } from '#runtime/tokenizer.ts'
import { sharedTurns, takeTurn } from '#runtime/turns.ts'
import { MemoryAudit } from '#stores/memory/audit.ts'
import { openLog } from '#telemetry/log.ts'
import { Metrics } from '#telemetry/metrics.ts'
import { telemetryObserver } from '#telemetry/observer.ts'
import { aiSdkEmbedding } from '#upstreams/ai-sdk/embedding.ts'
import { aiSdkImage } from '#upstreams/ai-sdk/image.ts'
import { DemoEmbedding } from '#upstreams/demo/embedding.ts'
import { DemoImage } from '#upstreams/demo/image.ts'
import { UpstreamHttp } from '#upstreams/connect/http.ts'
import { imageRegistry } from '#upstreams/image-registry.ts'
import { GuardedPictureFetcher } from '#upstreams/connect/picture-fetch.ts'
import { upstreamRegistry } from '#upstreams/registry.ts'

export const version: string = (
  JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as { version: string }
).version

export interface Node {
  /** Where the public listener answers, without a path. */
  readonly url: string
  readonly controlUrl: string
  readonly catalog: () => Catalog
  /** Whether anybody could call. */
  readonly hasKeys: boolean
  /** The key made for a first start, when there is no configuration that could hold one. */
  readonly demoKey: string | undefined
  /** Reads torana.yaml again; a bad file changes nothing. */
  reload(): void
  /** Resolves when the node has stopped by itself, because an operator or another node ended it. */
  readonly ended: Promise<void>
  /** Takes no more requests, lets those under way end, then lets go of everything. Who asks again gets the same promise. */
  stop(): Promise<void>
}

/** How often the configuration file is looked at. */
const RELOAD_INTERVAL_MS = 1000
/** Longer than any request may take. */
const DRAIN_MS = 65_000

/** The ports are bound already, so that a taken one is told before anything else is opened. */
export async function startNode(settings: Settings, env: Environment, listeners: Listeners): Promise<Node> {
  await using opened = new AsyncDisposableStack()
  opened.use(listeners)
  const log = openLog(settings.logLevel)
  const loaded = loadCatalog(settings, env)
  const { limits } = loaded
  /** What the configuration says; `catalog` adds the credentials that the store keeps. */
  let declared = loaded.catalog
  let catalog = declared
  for (const warning of loaded.warnings) log.warn(warning)
  if (settings.database.kind === 'memory')
    log.warn('DATABASE_URL is memory: nothing is kept when this process ends')
  const clock = systemClock
  const identifiers = uuidv7Identifiers(clock)
  const publicUrl = settings.publicUrl ?? listeners.url

  const demoKey =
    settings.configFile === undefined && settings.bootstrapKey === undefined
      ? loadDemoKey(settings.dataDir)
      : undefined
  const projectsOf = ({ projects }: Catalog): readonly Project[] =>
    withDefaultProject(projects, settings.bootstrapKey ?? demoKey)

  const metrics = new Metrics(version)
  const tokens = new WorkerTokenCounter()
  const json = new WorkerJson()
  const told = Promise.withResolvers<void>()
  const accounts = await openAccounts(settings, {
    clock,
    identifiers,
    log,
    metrics,
    version,
    unsettled: (requestId, error) =>
      log.error({ requestId, err: error }, 'a usage record waits in the journal'),
    onBudgetMark: (mark) => webhooks.budgetMark(mark),
    onEnded: () => told.resolve(),
  })
  const webhooks = openWebhooks({
    clock,
    log,
    nodeId: accounts.nodeId,
    database: accounts.database,
    proxy: settings.proxy,
    projects: () => declared.projects,
  })
  let completions = 0
  let onCatalog = (): void => {}
  const complete = async (): Promise<void> => {
    completions += 1
    const own = completions
    const completed = await directory.withCredentials(declared)
    // Something may have changed meanwhile; then a later one is under way.
    if (own !== completions) return
    catalog = completed
    onCatalog()
  }
  const onIncomplete = (error: unknown): void =>
    log.error({ err: error }, 'stored credentials could not be read; the last ones stay in force')
  const memoryAudit = new MemoryAudit(clock)
  const directory = await openDirectory(settings, {
    clock,
    log,
    database: accounts.database,
    memoryAudit,
    onChange: () => void complete().catch(onIncomplete),
  })
  directory.declare(projectsOf(declared))
  await complete()
  const hasKeys = directory.storedKeys > 0 || projectsOf(declared).some((project) => project.keys.length > 0)
  if (!hasKeys) log.warn('there are no keys: nobody can call')
  const telemetry = telemetryObserver(log, metrics, clock)
  const http = new UpstreamHttp({
    ...limits,
    proxy: settings.proxy,
    // Of all bodies together a megabyte, which is about what a turn reads.
    sendingTurn: sharedTurns(16),
  })
  const demo = new DemoEmbedding()
  const upstream = upstreamRegistry(http, takeTurn, {
    'ai-sdk': aiSdkEmbedding({ ...limits, proxy: settings.proxy }),
    demo,
  })
  if (usesDemo(catalog)) demo.warmUp()
  const fetcher = new GuardedPictureFetcher({ ...limits, proxy: settings.proxy })
  const imageUpstream = imageRegistry(http, {
    fetcher,
    answerBytes: limits.answerBytes,
    others: { 'ai-sdk': aiSdkImage({ ...limits, proxy: settings.proxy }), demo: new DemoImage() },
  })

  const readiness = {
    notReady: () => (listeners.isDraining ? 'draining' : (directory.notReady() ?? accounts.failure())),
  }
  const observer: Observer = {
    callEnded: (record) => telemetry.callEnded(record),
    requestEnded(record) {
      telemetry.requestEnded(record)
      accounts.logRequest(record)
    },
  }
  const scheduler = new Scheduler({
    nodes: accounts.liveNodes,
    isWithdrawn: (deployment) => spaces.isWithdrawn(deployment),
  })
  const load = senseLoad(() => dispatch.refusals)
  const dispatch: Dispatch = new Dispatch({
    scheduler,
    ownWaitMs: () => load.ownWaitMs(),
    clock,
    random: Math.random,
    limits,
    after,
    newBudget: () => new RetryBudget(),
  })
  const outside = {
    ...accounts.money,
    upstream,
    tokens,
    clock,
    identifiers,
    observer,
    limits,
    nextTurn: takeTurn,
    bytesOf: (text: string) => Buffer.byteLength(text),
  }
  const spaces = openSpaces({
    accounts,
    memoryAudit,
    log,
    catalog: () => catalog,
    scheduler,
    outside,
  })
  let targets = targetsOf(catalog)
  onCatalog = () => {
    const now = targetsOf(catalog)
    // One that leads elsewhere by now, or with another credential, deserves a new start.
    scheduler.forgetAllBut(new Set([...now].filter(([id, to]) => targets.get(id) === to).map(([id]) => id)))
    targets = now
    spaces.reload()
  }
  const sharing = openSharing(settings, {
    clock,
    log,
    limits,
    isTrusted: (deployment, madeAtMs) => spaces.guard.isTrusted(deployment, madeAtMs),
  })
  metrics.traffic.read(() => ({
    deployments: scheduler.states(clock.monotonicMs()),
    waiting: dispatch.waiting(),
    cache: sharing.cache.size(),
  }))
  const images = await openImages(settings, {
    clock,
    identifiers,
    log,
    accounts,
    limits,
    catalog: () => catalog,
    observer,
    imageUpstream,
    fetcher,
    dispatch,
    publicUrl: () => publicUrl,
    webhooks,
  })
  const gateway = await gatewayServer({
    ...readiness,
    ...images.forGateway,
    ...outside,
    version,
    keys: directory.keys,
    json,
    sharingOf: sharing.sharingOf,
    generationOf: spaces.generationOf,
    isQuarantined: (model, deployment) => spaces.guard.isOutside(model, deployment),
    brake: brakeOf({
      refusedShare: () => (limits.overloadBrake ? load.refusedShare : 0),
      random: Math.random,
      nextId: () => identifiers.next(),
      docsUrl: () => publicUrl,
      refused: () => metrics.traffic.refused(),
    }),
    docsUrl: () => publicUrl,
  })
  const control = controlServer({
    ...readiness,
    metrics: () => metrics.text(),
    api: {
      ...directory.api,
      books: accounts.books,
      spaces: { catalog: () => catalog, store: spaces.store, guard: spaces.guard },
      identifiers,
      version,
      catalog: () => declared,
      declared: () => projectsOf(declared),
      nowMs: clock.nowMs,
      docsUrl: () => publicUrl,
      onFault: (fault, requestId) => {
        if (fault.entry.status >= 500)
          log.error({ requestId, err: fault.cause ?? fault }, 'the control API failed')
      },
    },
  })

  await spaces.start()
  await listeners.open({ gateway, control }, limits)
  const { url, controlUrl } = listeners
  log.info({ url, controlUrl, models: listModels(catalog).length, version }, 'ready')

  const watch =
    settings.configFile === undefined
      ? undefined
      : watchConfig({
          file: settings.configFile,
          intervalMs: RELOAD_INTERVAL_MS,
          load: () => loadCatalog(settings, env),
          onGood: (fresh) => {
            declared = fresh.catalog
            directory.declare(projectsOf(declared))
            complete().catch(onIncomplete)
            log.info({ models: listModels(declared).length }, 'configuration reloaded')
            if (JSON.stringify(fresh.limits) !== JSON.stringify(limits))
              log.warn('changed limits take effect at the next start')
          },
          onBad: (problems) =>
            log.error({ problems }, 'the configuration is wrong; the last good one stays in force'),
        })

  const ports = opened.move()
  const end = async (): Promise<void> => {
    watch?.close()
    await listeners.drain()
    // Jobs whose client has gone, or never waited.
    await images.drain(DRAIN_MS)
    await ports.disposeAsync()
    await images.stop()
    await spaces.stop()
    load.close()
    await webhooks.stop()
    await directory.stop()
    await accounts.stop()
    await Promise.all([sharing.close(), http.close(), tokens.close(), json.close(), demo.close()])
    log.info('stopped')
    log.close()
  }
  let ending: Promise<void> | undefined
  const stop = (): Promise<void> => (ending ??= end())

  return {
    url,
    controlUrl,
    catalog: () => catalog,
    demoKey,
    hasKeys,
    reload: () => watch?.reload(),
    stop,
    // A node that was ended while it started stops as soon as it has started.
    ended: told.promise.then(stop),
  }
}

/** The key of the environment belongs to project `default` and may use every model. */
function withDefaultProject(projects: readonly Project[], secret: string | undefined): readonly Project[] {
  return secret === undefined
    ? projects
    : [...projects, { name: 'default', keys: [{ name: 'bootstrap', secret }] }]
}

function usesDemo(catalog: Catalog): boolean {
  const deployments = listModels(catalog).flatMap<{ readonly upstream: Upstream }>((model) =>
    model.kind === 'embedding' ? model.deployments : [],
  )
  return deployments.some(({ upstream }) => upstream.dialect === 'demo')
}

/** By id, what each deployment leads to. */
function targetsOf(catalog: Catalog): ReadonlyMap<string, string> {
  const deployments = listModels(catalog).flatMap<{ id: string; upstream: Upstream; upstreamModel: string }>(
    (model) => [...model.deployments],
  )
  return new Map(
    deployments.map(({ id, upstream, upstreamModel }) => [id, JSON.stringify([upstream, upstreamModel])]),
  )
}
