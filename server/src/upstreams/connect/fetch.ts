/** A `fetch` for libraries that want one: our connections, our proxy, the caller's own abort signal. */
import { Agent, EnvHttpProxyAgent, fetch as undiciFetch, type Dispatcher } from 'undici'
import type { ProxySettings } from '#core/settings.ts'

export interface FetchOptions {
  readonly connectTimeoutMs: number
  /** Largest answer read. */
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
  return (input, init) => send(input, { ...init, dispatcher })
}

export function proxyAgent({ http, https, no }: ProxySettings): Dispatcher {
  return new EnvHttpProxyAgent({
    ...(http === undefined ? {} : { httpProxy: http }),
    ...(https === undefined ? {} : { httpsProxy: https }),
    ...(no === undefined ? {} : { noProxy: no }),
  })
}
