/** A `fetch` for libraries that want one: our connections, our proxy, the caller's own abort signal. */
import { Agent, EnvHttpProxyAgent, errors, fetch as undiciFetch, type Dispatcher } from 'undici'
import type { ProxySettings } from '#core/settings.ts'
import type { UpstreamTls } from '#core/catalog/upstream-tls.ts'
import { USER_AGENT } from './user-agent.ts'

export interface FetchOptions {
  readonly connectTimeoutMs: number
  /** Largest answer read, unpacked. */
  readonly answerBytes: number
  readonly proxy?: ProxySettings | undefined
}

export function makeFetch({ connectTimeoutMs, answerBytes, proxy }: FetchOptions): typeof globalThis.fetch {
  const dispatcher = proxy
    ? proxyAgent(proxy)
    : // Each call has its own deadline.
      new Agent({
        connect: { timeout: connectTimeoutMs },
        maxResponseSize: answerBytes,
        headersTimeout: 0,
        bodyTimeout: 0,
      })
  const send = undiciFetch as unknown as (input: unknown, init: unknown) => Promise<Response>
  return async (input, init) => {
    const headers = new Headers(init?.headers ?? (input instanceof Request ? input.headers : undefined))
    // A compressed answer costs CPU and may unpack to a thousand times its size.
    if (!headers.has('accept-encoding')) headers.set('accept-encoding', 'identity')
    headers.set('user-agent', userAgentOf(headers.get('user-agent')))
    return bounded(await send(input, { ...init, headers, dispatcher }), answerBytes)
  }
}

/** Ours, followed by the package's. An operator's own stays as it is: the packages append theirs. */
function userAgentOf(given: string | null): string {
  if (given === null) return USER_AGENT
  return /^ai-sdk\b/.test(given) ? `${USER_AGENT} ${given}` : given
}

/**
 * The answer, cut off with an error at this size. It counts what the reader gets: an upstream may compress
 * its answer despite the header, and behind a proxy nothing else counts.
 */
function bounded(response: Response, maxBytes: number): Response {
  if (response.body === null) return response
  let bytes = 0
  const counted = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      bytes += chunk.length
      if (bytes > maxBytes) throw new errors.ResponseExceededMaxSizeError()
      controller.enqueue(chunk)
    },
  })
  const { status, statusText, headers } = response
  return new Response(response.body.pipeThrough(counted), { status, statusText, headers })
}

/** `tls` is for the upstream behind the proxy, not for the proxy itself. */
export function proxyAgent({ http, https, no }: ProxySettings, tls?: UpstreamTls): Dispatcher {
  return new EnvHttpProxyAgent({
    ...(tls === undefined ? {} : { requestTls: { ...tls }, connect: { ...tls } }),
    ...(http === undefined ? {} : { httpProxy: http }),
    ...(https === undefined ? {} : { httpsProxy: https }),
    ...(no === undefined ? {} : { noProxy: no }),
  })
}
