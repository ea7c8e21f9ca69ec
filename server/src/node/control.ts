/** Composition of the private listener's app. */
import { hostname } from 'node:os'
import { builtInFacts } from '#config/build/facts.ts'
import { knownProviders, tryUpstream } from '#config/build/offer.ts'
import { readStoredPrice } from '#config/build/stored-prices.ts'
import { tasksOf } from '#core/node/node-role.ts'
import type { Scheduler } from '#core/schedule/scheduler.ts'
import { kindAtControl } from '#core/access/security-event.ts'
import { clientAddressBehind } from '#http/client-address.ts'
import { FailedKeys } from '#http/gateway/caller/failed-keys.ts'
import { deleteOldBackups } from '#control/backup/open.ts'
import type { ControlNode } from '#control/shared/node.ts'
import type { UploadHandlers } from '#http/gateway/files/upload-routes.ts'
import type { GatewayHandlers } from '#http/gateway/handlers.ts'
import { validityOf } from '#http/certificate.ts'
import { controlServer } from '#control/server.ts'
import { catalogDate, CONSOLE_FOLDER, readManifest, readOpenapi } from '#package/files.ts'
import type { EmbedOutside } from '#request/embeddings/outside.ts'
import { diskSpace } from '#runtime/disk-room.ts'
import { jobKeysOf } from '#runtime/secret.ts'
import { writeBackup } from '#stores/backup.ts'
import type { FollowedConfiguration } from './catalog.ts'
import type { Accounts } from './accounts.ts'
import type { openAlerts } from './alerts.ts'
import type { MetricsText } from '#telemetry/metrics.ts'
import { version, type Basics } from './basics.ts'
import type { Bulk } from './bulk.ts'
import type { CatalogInForce } from '#worker/catalog/in-force.ts'
import type { Directory } from './directory.ts'
import type { Images } from './images.ts'
import type { OpenLake } from './lake.ts'
import type { Listeners } from '#http/listeners.ts'
import type { Live } from './live.ts'
import type { NodeReadiness } from '#worker/readiness.ts'
import type { People } from './people.ts'
import type { SharedVectors } from './sharing.ts'
import type { Spaces } from './spaces.ts'
import type { Stores } from './stores.ts'
import type { Upstreams } from './upstreams.ts'

/** The other processes of this node, which answer at the same addresses. */
export interface Peers {
  /** What all of them have counted. */
  readonly metrics: () => Promise<MetricsText>
}

interface ControlParts {
  readonly peers: Peers | undefined
  readonly scheduler: Scheduler
  readonly handlers: GatewayHandlers
  readonly uploads: UploadHandlers
  readonly listeners: Listeners
  readonly sharing: SharedVectors
  readonly stores: Stores
  readonly readiness: NodeReadiness
  readonly publicUrl: string
  readonly controlUrl: string
  readonly catalog: CatalogInForce
  readonly configuration: FollowedConfiguration
  readonly accounts: Accounts
  readonly directory: Directory
  readonly lake: Pick<OpenLake, 'forControl'>
  readonly spaces: Spaces
  readonly live: Live
  readonly outside: EmbedOutside
  readonly upstreams: Upstreams
  readonly images: Images
  readonly bulk: Bulk
  readonly people: People
  readonly alerts: ReturnType<typeof openAlerts>
}

/** Addresses that only users of this machine can reach. */
const LOOPBACK = /^(?:127\.|::1$|localhost$)/

export async function openControl(basics: Basics, parts: ControlParts) {
  const { clock, identifiers, log, metrics, security, settings } = basics
  await deleteOldBackups(settings.dataDir)
  if (!LOOPBACK.test(settings.controlHost) && settings.tls === undefined)
    log.warn(
      { host: settings.controlHost },
      'the control API listens beyond this machine and speaks plain HTTP: put TLS in front of it, and keep its network private',
    )
  const { readiness, publicUrl, directory } = parts
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
      node: controlNode(basics, parts),
      callerOf: directory.callerOf,
      bodyRoom: basics.bodyRoom,
      consoleUrl: settings.consoleUrl,
      identifiers,
      openapi: () => readOpenapi('control'),
      console: { folder: CONSOLE_FOLDER, basePath: basePathOf(settings.consoleUrl) },
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
  // The socket for commands has the control API in every role, the control port where the role has it.
  return { commands, control: tasksOf(settings.role).hasControl ? commands : controlServer(health) }
}

function controlNode(
  { clock, identifiers, settings, limits, playground, secrets, log }: Basics,
  parts: ControlParts,
): ControlNode {
  const { stores, catalog, configuration, directory, publicUrl, controlUrl, images, bulk } = parts
  const { upstreams, live, sharing, spaces, outside } = parts
  const { blobs, forGateway } = images
  return {
    ...stores,
    ...stores.forControl,
    clock,
    identifiers,
    version,
    startedAtMs: clock.nowMs(),
    catalogDate: catalogDate(),
    dependencies: readManifest().dependencies,
    settings,
    limits,
    playground,
    peppers: directory.peppers,
    newSecret: directory.newSecret,
    publicUrl,
    controlUrl,
    hostname: hostname(),
    onTopicFailure: (topic, error) =>
      log.warn({ topic, err: error }, 'a live topic of the console has no news'),
    catalog: () => catalog.current,
    declaredCatalog: () => catalog.declared,
    declaredProjects: () => catalog.projects,
    refreshCatalog: () => catalog.completed(),
    readPrice: readStoredPrice,
    scheduler: parts.scheduler,
    handlers: parts.handlers,
    uploads: parts.uploads,
    extendedBy: (objects) => catalog.extendedBy(objects),
    exported: configuration.exported,
    knownProviders: () => knownProviders(builtInFacts()),
    tryUpstream: (name, entry) => tryUpstream(name, entry, builtInFacts()),
    modelListing: upstreams.listing,
    summaries: live.summaries,
    averageItems: sharing.averageItems,
    nameSpace: spaces.nameSpace,
    spaceGuard: spaces.guard,
    alertTransport: parts.alerts.transport,
    nodeFigures: parts.accounts.nodeFigures,
    limiterMemory: parts.accounts.limiterMemory,
    isDrained: (deployment) => live.drains.of(deployment) !== undefined,
    embedOutside: outside,
    imageOutside: { ...outside, ...forGateway },
    diskSpace: () => diskSpace(settings.dataDir),
    imageStore: blobs.kept,
    imagesWaiting: async () => blobs.spooled?.waiting() ?? 0,
    certificate: () => validityOf(parts.listeners.certificate),
    sharedCache: () => sharing.sharedCacheTrouble && { trouble: sharing.sharedCacheTrouble() },
    writeBackup: (file, pictures) => writeBackup(file, stores.dump, pictures ? blobs.store : undefined),
    ledger: stores.ledgerStore,
    lake: parts.lake.forControl,
    ...parts.people.forControl,
    imageBlobs: images.forGateway.blobs,
    thumbnails: images.thumbnails,
    jobKeys: jobKeysOf(secrets),
    terms: directory.terms,
    spending: stores.budgets,
    forBatches: bulk.forGateway.forBatches,
    fileBlobs: bulk.forGateway.fileBlobs,
    segmentsOf: bulk.forGateway.segmentsOf,
  }
}

/** The path below which people open the console, with a slash at both ends. */
function basePathOf(consoleUrl: string | undefined): string {
  const { pathname } = new URL(consoleUrl ?? 'http://localhost')
  return pathname.endsWith('/') ? pathname : `${pathname}/`
}
