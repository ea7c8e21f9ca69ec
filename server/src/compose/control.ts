/** Composition of the private listener's app. */
import type { FastifyInstance } from 'fastify'
import { listModels } from '#core/catalog.ts'
import { spaceOf } from '#core/embedding/space.ts'
import { tasksOf } from '#core/node-role.ts'
import type { Scheduler } from '#core/schedule/scheduler.ts'
import { kindAtControl } from '#core/security-event.ts'
import { clientAddressBehind } from '#http/client-address.ts'
import { FailedKeys } from '#http/gateway/caller/failed-keys.ts'
import type { BackupDependencies } from '#http/control/backup/routes.ts'
import type { EventTopic } from '#http/control/events/topic.ts'
import type { SettingsDependencies } from '#http/control/settings/routes.ts'
import type { ImageJobsDependencies } from '#http/control/images/jobs.ts'
import type { GatewayHandlers } from '#http/gateway/handlers.ts'
import { controlServer } from '#http/control/server.ts'
import { CONSOLE_FOLDER } from '#package/files.ts'
import type { Accounts } from './accounts.ts'
import type { MetricsText } from '#telemetry/metrics.ts'
import { version, type Basics } from './basics.ts'
import type { Bulk } from './bulk.ts'
import type { CatalogInForce } from './catalog.ts'
import { playgroundTerms, type Directory } from './directory.ts'
import type { Images } from './images.ts'
import type { Listeners } from './listeners.ts'
import type { ModelRoutes } from './models.ts'
import { pricesFor } from './prices.ts'
import type { NodeReadiness } from './readiness.ts'
import type { People } from './people.ts'
import type { SharedVectors } from './sharing.ts'
import type { Spaces } from './spaces.ts'
import type { Reports, Stores } from './stores.ts'
import { surroundingsOf } from './surroundings.ts'
import type { TrafficRoutes } from './traffic-routes.ts'

/** The other processes of this node, which answer at the same addresses. */
export interface Peers {
  /** What all of them have counted. */
  readonly metrics: () => Promise<MetricsText>
}

export interface ControlParts {
  readonly peers: Peers | undefined
  readonly scheduler: Pick<Scheduler, 'states'>
  readonly handlers: GatewayHandlers
  readonly listeners: Pick<Listeners, 'certificate'>
  readonly sharing: Pick<SharedVectors, 'sharedCacheTrouble'>
  readonly stores: Pick<Stores, 'attention' | 'prices' | 'reports'>
  readonly readiness: NodeReadiness
  readonly publicUrl: string
  readonly catalog: CatalogInForce
  readonly accounts: Accounts
  readonly directory: Directory
  readonly spaces: Spaces
  readonly models: ModelRoutes
  readonly images: Pick<Images, 'forControl' | 'blobs'>
  readonly bulk: Pick<Bulk, 'forControl'>
  readonly backup: BackupDependencies | undefined
  readonly people: People
  readonly settings: SettingsDependencies | undefined
  /** What is live in a console. */
  readonly topics: readonly EventTopic[]
  readonly trafficRoutes: TrafficRoutes
}

/** Nobody but users of this machine can reach it. */
const LOOPBACK = /^(?:127\.|::1$|localhost$)/

export interface ControlApps {
  /** On the control port. */
  readonly control: FastifyInstance
  /** On the socket for commands, which has the control API in every role. */
  readonly commands: FastifyInstance
}

export function openControl(basics: Basics, parts: ControlParts): ControlApps {
  const { clock, identifiers, log, metrics, security, settings } = basics
  if (!LOOPBACK.test(settings.controlHost) && settings.tls === undefined)
    log.warn(
      { host: settings.controlHost },
      'the control API listens beyond this machine and speaks plain HTTP: put TLS in front of it, and keep its network private',
    )
  const { readiness, publicUrl, catalog, accounts, directory, spaces, models, people } = parts
  const { attention, prices, reports } = parts.stores
  const jobsShown = ({ imageJobs }: Reports): ImageJobsDependencies => ({
    reports: imageJobs,
    retentionMs: basics.limits.assetRetentionMs,
  })
  const health = {
    limits: basics.limits,
    notReady: readiness.notReady,
    remark: readiness.remark,
    asked: readiness.asked,
    metrics: parts.peers?.metrics ?? (() => metrics.text()),
  }
  const commands = controlServer({
    ...health,
    api: {
      ...directory.forControl,
      books: accounts.books && {
        ...accounts.books,
        summaries: parts.trafficRoutes.overview.summaries,
        newestRequests: attention && (() => attention.newest()),
        surroundings: surroundingsOf(basics, { ...parts, blobs: parts.images.blobs }),
      },
      people: people.forControl,
      settings: parts.settings,
      money: reports &&
        prices && {
          ...reports.money,
          prices: pricesFor(prices, catalog),
          declared: () => catalog.projects,
          nowMs: clock.nowMs,
        },
      spaces: {
        catalog: () => catalog.current,
        store: spaces.store,
        figures: models.models.figures,
        guard: spaces.guard,
      },
      keyReports: reports?.keys,
      requests: reports && { reports: reports.requests, jobs: jobsShown(reports), nowMs: clock.nowMs },
      imageJobs: reports && jobsShown(reports),
      assets: parts.images.forControl,
      batches: parts.bulk.forControl,
      backup: parts.backup,
      resolve: {
        ...directory.forControl,
        declared: () => catalog.projects,
        catalog: () => catalog.current,
        stateOf: (deployment) =>
          parts.scheduler.states(clock.monotonicMs()).find((one) => one.deployment === deployment)?.state,
        spaces: () => spacesOf(catalog, spaces),
        finder: reports?.finder,
      },
      playground: {
        ...directory.forControl,
        declared: () => catalog.projects,
        handlers: parts.handlers,
        terms: playgroundTerms(basics.playground),
      },
      events: {
        topics: [...parts.trafficRoutes.topics, ...parts.topics],
        onTrouble: (topic, error) =>
          log.warn({ topic, err: error }, 'a live topic of the console has no news'),
      },
      ...models,
      overview: parts.trafficRoutes.overview,
      deployments: parts.trafficRoutes.deployments,
      bodyRoom: basics.bodyRoom,
      consoleUrl: settings.consoleUrl,
      identifiers,
      version,
      console: { folder: CONSOLE_FOLDER, basePath: basePathOf(settings.consoleUrl) },
      catalog: () => catalog.declared,
      declared: () => catalog.projects,
      nowMs: clock.nowMs,
      docsUrl: () => publicUrl,
      clientAddress: clientAddressBehind(settings.trustedProxies),
      failedTokens: new FailedKeys(() => clock.monotonicMs()),
      onFault: (fault, request) => {
        const { requestId } = request
        const kind = kindAtControl(fault.code)
        if (kind !== undefined) security.note({ kind, ...request })
        if (fault.entry.status >= 500)
          log.error({ requestId, err: fault.cause ?? fault }, 'the control API failed')
      },
      onAdminRequest: (request) => security.note({ kind: 'admin_request', ...request }),
    },
  })
  return { commands, control: tasksOf(settings.role).hasControl ? commands : controlServer(health) }
}

/** The path below which people open the console, with a slash at both ends. */
function basePathOf(consoleUrl: string | undefined): string {
  const { pathname } = new URL(consoleUrl ?? 'http://localhost')
  return pathname.endsWith('/') ? pathname : `${pathname}/`
}

/** The vector spaces that are known by their references. */
function spacesOf(catalog: CatalogInForce, { guard }: Spaces): { model: string; space: string }[] {
  return listModels(catalog.current).flatMap(({ id }) => {
    const reference = guard.referenceOf(id)
    return reference === undefined
      ? []
      : [{ model: id, space: spaceOf(id, reference.width, reference.generation) }]
  })
}
