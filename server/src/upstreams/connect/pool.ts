/** Pools of connections to upstreams. */
import { createHash } from 'node:crypto'
import { Pool, type Dispatcher } from 'undici'
import type { ProxySettings } from '#core/settings.ts'
import type { UpstreamTls } from '#core/catalog/upstream-tls.ts'
import { proxyAgent } from './fetch.ts'

/** Connections per origin: more would only queue at the far end. */
const CONNECTIONS_PER_ORIGIN = 512
/** Below the 60 s after which common load balancers drop an idle connection. */
const KEEP_ALIVE_MS = 30_000
/** Each call has its own deadline. */
export const NO_TIMEOUTS = { headersTimeout: 0, bodyTimeout: 0 } as const

export interface PoolOptions {
  readonly connectTimeoutMs: number
  readonly proxy?: ProxySettings | undefined
  readonly tls: UpstreamTls | undefined
  readonly isForUploads: boolean
}

/** Connections to one origin. */
export function openPool(
  origin: string,
  { connectTimeoutMs, proxy, tls, isForUploads }: PoolOptions,
): Dispatcher {
  if (proxy !== undefined) return proxyAgent(proxy, tls)
  return new Pool(origin, {
    connections: CONNECTIONS_PER_ORIGIN,
    keepAliveTimeout: KEEP_ALIVE_MS,
    connect: { timeout: connectTimeoutMs, ...tls },
    ...(isForUploads ? { allowH2: false } : {}),
    ...NO_TIMEOUTS,
  })
}

/** Certificates are read again with each configuration and are usually equal: equal ones share their connections. */
const digests = new WeakMap<UpstreamTls, string>()

export function digestOf(tls: UpstreamTls): string {
  let digest = digests.get(tls)
  if (digest === undefined) {
    digest = createHash('sha256')
      .update(JSON.stringify([tls.ca, tls.cert, tls.key]))
      .digest('hex')
    digests.set(tls, digest)
  }
  return digest
}
