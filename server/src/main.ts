/** The composition root: what a node is made of, in the order in which it is opened, and how it ends. */
import { openAccounts } from '#node/accounts.ts'
import { openAlerts } from '#node/alerts.ts'
import { openBulk } from '#node/bulk.ts'
import { version } from '#node/basics.ts'
import { catalogOf, completeCatalog, followConfiguration } from '#node/catalog.ts'
import { openConfigAudit } from '#node/config-audit.ts'
import { watchCertificate } from '#node/certificate.ts'
import { openControl, type Peers } from '#node/control.ts'
import { openDirectory } from '#node/directory.ts'
import { stopOf } from '#node/ending.ts'
import { openGateway } from '#node/gateway.ts'
import { openImages } from '#node/images.ts'
import { openLake } from '#node/lake.ts'
import { openLive } from '#node/live.ts'
import { openSocket } from '#node/listeners.ts'
import { outsideOf } from '#node/outside.ts'
import { openNodeSetup } from '#node/node-setup.ts'
import { openPeople } from '#node/people.ts'
import { prepare } from '#node/prepare.ts'
import { readinessOf } from '#node/readiness.ts'
import { openSharing } from '#node/sharing.ts'
import { openSpaces } from '#node/spaces.ts'
import { openSuspects } from '#node/suspects.ts'
import type { OpenStores, StoreParts } from '#node/stores.ts'
import { openTraces } from '#node/traces.ts'
import { openTraffic } from '#node/traffic.ts'
import { openUpstreams } from '#node/upstreams.ts'
import { openWebhooks, webhooksIn } from '#node/webhooks.ts'
import type { Environment } from '#config/file/variable.ts'
import { listModels, type Catalog } from '#core/catalog/catalog.ts'
import type { Settings } from '#core/settings.ts'
import type { Listeners } from '#http/listeners.ts'
import { WorkerJson } from '#runtime/json.ts'
import { WorkerTokenCounter } from '#runtime/tokenizer.ts'
import { openLog } from '#telemetry/log.ts'
import type { MetricsText } from '#telemetry/metrics.ts'
import type { StopOptions } from '#worker/ending.ts'

export interface Node {
  /** The address of the public listener, without a path. */
  readonly url: string
  readonly controlUrl: string
  readonly catalog: () => Catalog
  /** Whether there was a key at the start. Without a key every request is refused. */
  readonly hasKeys: boolean
  /** The key of a first start. Undefined: the configuration or the environment can hold one. */
  readonly demoKey: string | undefined
  /** The page on which a person becomes the first admin. Undefined: there is a member already. */
  readonly welcomeUrl: string | undefined
  /** The metrics of this process. */
  readonly metrics: () => Promise<MetricsText>
  /** Reads torana.yaml again; a bad file changes nothing. */
  reload(): void
  /** Resolves when the node has stopped by itself, because an operator or another node ended it. */
  readonly ended: Promise<void>
  /**
   * Lets requests in progress end, then closes everything. Takes at most `limits.drainMs` and five seconds. A second call gets
   * the same promise.
   */
  stop(options?: StopOptions): Promise<void>
}

export interface StartOptions {
  /** Aborts the start. */
  readonly signal?: AbortSignal
  /** Other processes at the same addresses. Undefined: there are none. */
  readonly peers?: Peers | undefined
}

/**
 * The caller has bound the ports, so that it can report a port in use before anything else is opened. When `signal` aborts, the
 * start closes what it has opened and throws the signal's reason.
 */
export async function startNode(
  settings: Settings,
  env: Environment,
  listeners: Listeners,
  openStores: OpenStores,
  { signal = new AbortController().signal, peers }: StartOptions = {},
): Promise<Node> {
  // Parts close in the reverse order: when the node stops, or at once when one of them can't be opened.
  await using opened = new AsyncDisposableStack()
  const log = openLog(settings.logLevel, settings.logFormat)
  let isStarted = false
  opened.defer(() => {
    if (isStarted || signal.aborted) log.info('stopped')
    log.close()
  })
  opened.use(listeners)
  signal.throwIfAborted()
  const { seen, loaded, basics, demoKey } = prepare(settings, env, log)
  const catalog = catalogOf(basics, loaded, settings.bootstrapKey ?? demoKey)
  const publicUrl = settings.publicUrl ?? listeners.url
  const ended = Promise.withResolvers<void>()

  const tokens = opened.adopt(new WorkerTokenCounter(), (one) => one.close())
  const json = opened.adopt(new WorkerJson(loaded.limits), (one) => one.close())
  const upstreams = opened.use(openUpstreams(basics))
  // Called when a batch ends; none does before the guard is open.
  const judgeMade: StoreParts['judgeMade'] = (made) => spaces.guard.judgeMade(made)
  const storeParts = { webhooksFor: webhooksIn(catalog), judgeMade, onEnded: () => ended.resolve() }
  const stores = opened.use(await openStores(basics, storeParts))
  signal.throwIfAborted()
  const configAudit = opened.use(openConfigAudit(basics, stores.audit))
  const followed = { catalog, audit: configAudit, since: seen, loaded }
  const configuration = opened.adopt(followConfiguration(basics, env, followed), (one) => one.close())
  const webhooks = opened.use(openWebhooks(basics, { stores, catalog }))
  const directory = opened.use(await openDirectory(basics, { stores, catalog }))
  const marks = { budgetInForce: directory.budgetInForce, onBudgetMark: webhooks.budgetMark }
  const accounts = opened.use(await openAccounts(basics, { stores, catalog, ...marks }))
  await completeCatalog(catalog, basics, stores)
  signal.throwIfAborted()
  const traffic = opened.use(openTraffic(basics, { catalog, liveNodes: stores.liveNodes }))
  const { scheduler } = traffic
  const live = opened.use(await openLive(basics, { stores, catalog, scheduler, listeners }))
  const { traces } = opened.use(openTraces(basics, catalog))
  const unguarded = outsideOf(basics, { stores, accounts, upstreams, tokens, live, traces })
  const spaceParts = { stores, catalog, scheduler, outside: unguarded, upstreams, signal }
  const spaces = opened.use(await openSpaces(basics, spaceParts))
  const outside = { ...unguarded, guard: spaces.guard }
  live.explainBy((deployment) => spaces.guard.standingOf(deployment)?.reason)
  signal.throwIfAborted()
  const sharing = opened.use(openSharing(basics, spaces.guard))
  const { url, controlUrl } = listeners
  const engine = { stores, accounts, catalog, outside, upstreams, traffic, sharing, spaces, json, publicUrl }
  const { terms } = directory
  const images = opened.use(await openImages(basics, { ...engine, terms, dispatch: traffic.dispatch }))
  const { blobs } = images
  opened.use(openNodeSetup(basics, { stores, catalog, blobs }))
  const lake = opened.use(openLake(basics, { stores, blobs }))
  opened.use(openSuspects(basics, { stores, blobs, catalog }))
  const bulk = opened.use(await openBulk(basics, { ...engine, terms, images, blobs }))
  const readiness = readinessOf(basics, { listeners, directory, stores, catalog, signal, ended })
  const served = { ...engine, directory, images, bulk, readiness, listeners, liveNodes: stores.liveNodes }
  const { app: gateway, ...played } = openGateway(basics, { ...served, traces })
  const alerts = opened.use(openAlerts(basics, { stores, catalog, live, spaces, controlUrl }))
  const people = opened.use(await openPeople(basics, stores, controlUrl))
  const own = { configuration, controlUrl, peers, ...played, scheduler }
  const shown = { ...served, ...own, people, live, alerts, lake }
  const { control, commands } = await openControl(basics, shown)
  signal.throwIfAborted()
  await openSocket(basics, listeners, commands)
  await listeners.open({ gateway, control }, loaded.limits, basics.metrics.traffic, readiness.serving)
  opened.use(watchCertificate(basics, listeners))
  log.info({ url, controlUrl, models: listModels(catalog.current).length, version }, 'ready')
  configAudit.note(catalog.declared, seen?.digest ?? '')
  isStarted = true

  const stop = stopOf(basics, {
    file: configuration,
    readiness,
    listeners,
    images,
    bulk,
    openCalls: stores.openCalls,
    parts: opened.move(),
  })
  return {
    url,
    controlUrl,
    catalog: () => catalog.current,
    hasKeys: directory.hasKeys,
    demoKey,
    welcomeUrl: people.welcomeUrl,
    metrics: () => basics.metrics.text(),
    reload: () => configuration.reload(),
    // A node that is ended during its start stops as soon as it has started.
    ended: ended.promise.then(() => stop()),
    stop,
  }
}
