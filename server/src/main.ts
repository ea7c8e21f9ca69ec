/** The composition root: settings → stores → upstreams → listeners, and the order in which they end. */
import { readFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import type { FastifyInstance } from 'fastify'
import { loadCatalog } from '#config/load.ts'
import { watchConfig } from '#config/reload.ts'
import type { Environment } from '#config/variable.ts'
import { listModels, type Catalog, type Project } from '#core/catalog.ts'
import type { Settings } from '#core/settings.ts'
import { controlServer } from '#http/control/server.ts'
import { gatewayServer } from '#http/gateway/server.ts'
import { systemClock } from '#runtime/clock.ts'
import { uuidv7Identifiers } from '#runtime/identifiers.ts'
import { WorkerJson } from '#runtime/json.ts'
import { keyHasher, loadDemoKey, loadSecret } from '#runtime/secret.ts'
import { WorkerTokenCounter } from '#runtime/tokenizer.ts'
import { takeTurn } from '#runtime/turns.ts'
import { MemoryKeys } from '#stores/memory/keys.ts'
import { openLog } from '#telemetry/log.ts'
import { Metrics } from '#telemetry/metrics.ts'
import { telemetryObserver } from '#telemetry/observer.ts'
import { aiSdkEmbedding } from '#upstreams/ai-sdk/embedding.ts'
import { DemoEmbedding } from '#upstreams/demo/embedding.ts'
import { UpstreamHttp } from '#upstreams/http.ts'
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
  /** Takes no more requests, lets those under way end, then lets go of everything. */
  stop(): Promise<void>
}

/** How often the configuration file is looked at. */
const RELOAD_INTERVAL_MS = 1000
/** Longer than any request may take. */
const DRAIN_MS = 65_000
/** While draining: long enough to cost nothing, short enough that nobody waits for it. */
const SWEEP_MS = 100

export async function startNode(settings: Settings, env: Environment): Promise<Node> {
  const log = openLog(settings.logLevel)
  const loaded = loadCatalog(settings, env)
  const { limits } = loaded
  let { catalog } = loaded
  for (const warning of loaded.warnings) log.warn(warning)
  if (settings.database === 'memory')
    log.warn('DATABASE_URL is memory: nothing is kept when this process ends')

  const demoKey =
    settings.configFile === undefined && settings.bootstrapKey === undefined
      ? loadDemoKey(settings.dataDir)
      : undefined
  const keys = new MemoryKeys(keyHasher(loadSecret(settings.secret, settings.dataDir)))
  const projects = withDefaultProject(catalog.projects, settings.bootstrapKey ?? demoKey)
  const hasKeys = projects.some((project) => project.keys.length > 0)
  if (!hasKeys) log.warn('no keys are configured: nobody can call')
  keys.replace(projects)

  const clock = systemClock
  const identifiers = uuidv7Identifiers(clock)
  const metrics = new Metrics(version)
  const tokens = new WorkerTokenCounter()
  const json = new WorkerJson()
  const http = new UpstreamHttp({ ...limits, proxy: settings.proxy })
  const demo = new DemoEmbedding()
  const upstream = upstreamRegistry(http, takeTurn, {
    'ai-sdk': aiSdkEmbedding({ ...limits, proxy: settings.proxy }),
    demo,
  })
  if (usesDemo(catalog)) demo.warmUp()

  let notReady: string | undefined = 'starting'
  const readiness = { notReady: () => notReady }
  let publicUrl = settings.publicUrl
  const gateway = await gatewayServer({
    ...readiness,
    version,
    catalog: () => catalog,
    keys,
    upstream,
    tokens,
    json,
    clock,
    identifiers,
    observer: telemetryObserver(log, metrics, clock),
    limits,
    random: Math.random,
    nextTurn: takeTurn,
    bytesOf: (text) => Buffer.byteLength(text),
    docsUrl: () => publicUrl ?? '',
  })
  const control = controlServer({
    ...readiness,
    metrics: () => metrics.text(),
  })

  const letGo = async (): Promise<void> => {
    await control.close()
    await Promise.all([http.close(), tokens.close(), json.close(), demo.close()])
  }
  try {
    await control.listen({ host: settings.controlHost, port: settings.controlPort })
    await gateway.listen({ host: settings.host, port: settings.port })
  } catch (error) {
    // What is already open would keep the process alive after it has said why it can't start.
    await gateway.close()
    await letGo()
    throw error
  }
  const url = urlOf(gateway, settings.host)
  publicUrl ??= url
  notReady = undefined
  log.info(
    { url, controlUrl: urlOf(control, settings.controlHost), models: listModels(catalog).length, version },
    'ready',
  )

  const watch =
    settings.configFile === undefined
      ? undefined
      : watchConfig({
          file: settings.configFile,
          intervalMs: RELOAD_INTERVAL_MS,
          load: () => loadCatalog(settings, env),
          onGood: (fresh) => {
            catalog = fresh.catalog
            keys.replace(withDefaultProject(catalog.projects, settings.bootstrapKey))
            log.info({ models: listModels(catalog).length }, 'configuration reloaded')
            if (JSON.stringify(fresh.limits) !== JSON.stringify(limits))
              log.warn('changed limits take effect at the next start')
          },
          onBad: (problems) =>
            log.error({ problems }, 'the configuration is wrong; the last good one stays in force'),
        })

  return {
    url,
    controlUrl: urlOf(control, settings.controlHost),
    catalog: () => catalog,
    demoKey,
    hasKeys,
    reload: () => watch?.reload(),
    async stop() {
      notReady = 'draining'
      watch?.close()
      // A connection that falls idle while we wait is kept open by its client, and would hold us until the end of the drain.
      const sweep = setInterval(() => gateway.server.closeIdleConnections(), SWEEP_MS)
      await Promise.race([gateway.close(), new Promise((resolve) => setTimeout(resolve, DRAIN_MS).unref())])
      clearInterval(sweep)
      await letGo()
      log.info('stopped')
      log.close()
    },
  }
}

/** The key of the environment belongs to project `default` and may use every model. */
function withDefaultProject(projects: readonly Project[], secret: string | undefined): readonly Project[] {
  return secret === undefined
    ? projects
    : [...projects, { name: 'default', keys: [{ name: 'bootstrap', secret }] }]
}

function usesDemo(catalog: Catalog): boolean {
  return [...catalog.models.values()].some(({ deployments }) =>
    deployments.some(({ upstream }) => upstream.dialect === 'demo'),
  )
}

function urlOf(app: FastifyInstance, host: string): string {
  const { port } = app.server.address() as AddressInfo
  const name = host === '0.0.0.0' || host === '::' ? 'localhost' : host.includes(':') ? `[${host}]` : host
  return `http://${name}:${port}`
}
