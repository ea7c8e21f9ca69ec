/** Sends events as Standard Webhooks: signed, once, to public addresses only, without following redirects. */
import { createHmac } from 'node:crypto'
import { lookup as dnsLookup } from 'node:dns'
import { isIP, type LookupFunction } from 'node:net'
import { Agent, EnvHttpProxyAgent, request, type Dispatcher } from 'undici'
import type { ProxySettings } from '#core/settings.ts'
import type { Clock } from '#ports/clock.ts'
import { AddressRefused } from '#ports/image-upstream.ts'
import { WEBHOOK_TIMEOUT_MS, type WebhookPost, type WebhookTransport } from '#ports/webhooks.ts'
import { isAllowedPort, isPublicAddress } from './address-guard.ts'
import { HttpTimeout } from './http.ts'
import { USER_AGENT } from './user-agent.ts'

export interface WebhookOptions {
  readonly clock: Clock
  readonly proxy?: ProxySettings | undefined
  /** Allows private addresses and plain http: for tests and internal networks. */
  readonly allowPrivate?: boolean | undefined
  /** `WEBHOOK_TIMEOUT_MS` unless given. */
  readonly timeoutMs?: number | undefined
  /** Defaults to that of `node:dns`. */
  readonly lookup?: LookupFunction | undefined
}

const CONNECT_TIMEOUT_MS = 5000
/** Only the status counts. An answer of this size is read, so that its connection can be reused. */
const ANSWER_BYTES = 4096

export class WebhookHttp implements WebhookTransport {
  readonly #clock: Clock
  readonly #allowPrivate: boolean
  readonly #timeoutMs: number
  readonly #dispatcher: Dispatcher

  constructor({
    clock,
    proxy,
    allowPrivate = false,
    timeoutMs = WEBHOOK_TIMEOUT_MS,
    lookup,
  }: WebhookOptions) {
    this.#clock = clock
    this.#allowPrivate = allowPrivate
    this.#timeoutMs = timeoutMs
    const resolve: LookupFunction = lookup ?? dnsLookup
    this.#dispatcher = dispatcherFor(allowPrivate ? resolve : publicOnly(resolve), proxy)
  }

  async post({ url, secret, id, payload }: WebhookPost): Promise<{ readonly status: number }> {
    const target = this.#checked(url)
    const timestamp = String(Math.floor(this.#clock.nowMs() / 1000))
    const late = new HttpTimeout(`no answer within ${this.#timeoutMs} ms`)
    const deadline = new AbortController()
    const timer = setTimeout(() => deadline.abort(late), this.#timeoutMs)
    try {
      const { statusCode, body } = await request(target, {
        method: 'POST',
        dispatcher: this.#dispatcher,
        signal: deadline.signal,
        headers: {
          'content-type': 'application/json',
          'user-agent': USER_AGENT,
          accept: '*/*',
          'accept-encoding': 'identity',
          ...(secret !== undefined && {
            'webhook-id': id,
            'webhook-timestamp': timestamp,
            'webhook-signature': `v1,${signatureOf(`${id}.${timestamp}.${payload}`, secret)}`,
          }),
        },
        body: payload,
      })
      // Whatever happens to the rest of the answer, the event has arrived.
      await body.dump({ limit: ANSWER_BYTES, signal: deadline.signal }).catch(() => {})
      return { status: statusCode }
    } finally {
      clearTimeout(timer)
    }
  }

  async close(): Promise<void> {
    await this.#dispatcher.destroy()
  }

  #checked(address: string): URL {
    const url = URL.parse(address)
    if (url === null) throw new AddressRefused('it is not a URL')
    if (url.protocol !== 'https:' && !(url.protocol === 'http:' && this.#allowPrivate))
      throw new AddressRefused('it is not https')
    if (url.username !== '' || url.password !== '') throw new AddressRefused('it holds a credential')
    if (this.#allowPrivate) return url
    if (!isAllowedPort(url.port)) throw new AddressRefused(`port ${url.port} is not one for webhooks`)
    // A literal address never goes through the resolver: the platform dials it as it is.
    const host = url.hostname.replace(/^\[(.*)\]$/, '$1')
    if (isIP(host) !== 0 && !isPublicAddress(host)) throw notPublic()
    return url
  }
}

/** `whsec_` precedes bytes in base64; any other secret is taken as it is written. */
function signatureOf(signed: string, secret: string): string {
  const key = secret.startsWith('whsec_')
    ? Buffer.from(secret.slice('whsec_'.length), 'base64')
    : Buffer.from(secret)
  return createHmac('sha256', key).update(signed).digest('base64')
}

/** A proxy resolves hosts that are not exempt from it, and decides where they lead. */
function dispatcherFor(lookup: LookupFunction, proxy: ProxySettings | undefined): Dispatcher {
  const connect = { timeout: CONNECT_TIMEOUT_MS, lookup }
  // Each post has its own deadline.
  const options = { connect, headersTimeout: 0, bodyTimeout: 0 }
  if (proxy === undefined) return new Agent(options)
  const { http, https, no } = proxy
  return new EnvHttpProxyAgent({
    ...options,
    ...(http === undefined ? {} : { httpProxy: http }),
    ...(https === undefined ? {} : { httpsProxy: https }),
    ...(no === undefined ? {} : { noProxy: no }),
  })
}

/** The checked addresses are the ones that are dialled: a name can't mean something else a moment later. */
function publicOnly(lookup: LookupFunction): LookupFunction {
  return (host, options, callback) => {
    lookup(host, { ...options, all: true }, (error, found) => {
      if (error) return callback(error, '')
      const addresses = typeof found === 'string' ? [] : found
      const [first] = addresses
      if (first === undefined || !addresses.every(({ address }) => isPublicAddress(address)))
        return callback(notPublic(), '')
      if (options.all) callback(null, addresses)
      else callback(null, first.address, first.family)
    })
  }
}

function notPublic(): AddressRefused {
  return new AddressRefused('its host is not on the public internet')
}
