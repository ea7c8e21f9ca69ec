/** Opens the public API. */
import { clientAddressBehind } from '#http/client-address.ts'
import { brakeOf } from '#http/gateway/brake.ts'
import { corsOf } from '#http/gateway/cors.ts'
import { FailedKeys } from '#http/gateway/caller/failed-keys.ts'
import { CallsAtOnce } from '#http/gateway/caller/key-bounds.ts'
import { uploadHandlers } from '#http/gateway/files/upload-routes.ts'
import { gatewayHandlers } from '#http/gateway/handlers.ts'
import { gatewayServer, type GatewayDependencies } from '#http/gateway/server.ts'
import { readOpenapi } from '#package/files.ts'
import type { LargeJson } from '#ports/json.ts'
import type { Traces } from '#telemetry/traces/traces.ts'
import type { EmbedOutside } from '#request/embeddings/outside.ts'
import type { Basics } from './basics.ts'
import type { Bulk } from './bulk.ts'
import type { Directory } from './directory.ts'
import type { Images } from './images.ts'
import type { NodeReadiness } from '#worker/readiness.ts'
import type { SharedVectors } from './sharing.ts'
import type { Spaces } from './spaces.ts'
import type { Traffic } from './traffic.ts'

interface GatewayParts {
  readonly readiness: NodeReadiness
  readonly publicUrl: string
  readonly directory: Directory
  readonly outside: EmbedOutside
  readonly traces: Traces | undefined
  readonly traffic: Traffic
  readonly spaces: Spaces
  readonly sharing: SharedVectors
  readonly images: Images
  readonly bulk: Bulk
  readonly json: LargeJson
  readonly liveNodes: () => number
}

/** Hosts that stand for all addresses of a machine: no link can name them. */
const EVERYWHERE: ReadonlySet<string> = new Set(['0.0.0.0', '::'])

export function openGateway(basics: Basics, parts: GatewayParts) {
  const { limits, cors, clock, identifiers, log, metrics, settings } = basics
  const {
    readiness,
    publicUrl,
    directory,
    outside,
    traffic,
    spaces,
    sharing,
    images,
    bulk,
    json,
    liveNodes,
  } = parts
  const docsUrl = (): string => publicUrl
  if (settings.publicUrl === undefined && EVERYWHERE.has(settings.host))
    log.warn(
      { url: publicUrl },
      'PUBLIC_URL is not set: links to images and to error pages name this address, which callers on other machines cannot open',
    )
  metrics.traffic.read(() => ({
    deployments: traffic.scheduler.states(clock.monotonicMs()),
    waiting: traffic.dispatch.waiting(),
    cache: sharing.cache.size(),
  }))
  const dependencies: GatewayDependencies = {
    notReady: readiness.notReady,
    remark: readiness.remark,
    asked: readiness.asked,
    ...bulk.forGateway,
    ...images.forGateway,
    ...outside,
    serverTiming: settings.serverTiming,
    traceContextOf: parts.traces?.contextOf,
    openapi: () => readOpenapi('gateway'),
    keys: directory.keys,
    json,
    failedKeys: new FailedKeys(() => clock.monotonicMs()),
    clientAddress: clientAddressBehind(settings.trustedProxies),
    bodyRoom: basics.bodyRoom,
    callsAtOnce: new CallsAtOnce(liveNodes),
    sharingOf: sharing.sharingOf,
    spaceNow: spaces.spaceNow,
    nameSpace: spaces.nameSpace,
    isQuarantined: (model, deployment) => spaces.guard.isOutside(model, deployment),
    brake: brakeOf({
      refusedShare: () => (limits.overloadBrake ? traffic.load.refusedShare : 0),
      random: Math.random,
      nextId: () => identifiers.next(),
      docsUrl,
      refused: () => metrics.traffic.refused(),
    }),
    cors: cors && corsOf(cors),
    docsUrl,
  }
  /** The journeys of callers, which the console's playground shares. */
  const handlers = gatewayHandlers(dependencies)
  const uploads = uploadHandlers(dependencies)
  return { app: gatewayServer(dependencies, handlers, uploads), handlers, uploads }
}
