/**
 * Fetches images from addresses that others named. A host is resolved once, all its addresses are checked,
 * and only those are dialled, so that a name that changes a moment later is useless. Redirects are followed
 * by hand, each hop like a new address.
 */
import { lookup as dnsLookup, type LookupAddress } from 'node:dns'
import { isIP } from 'node:net'
import { networkInterfaces } from 'node:os'
import type { Readable } from 'node:stream'
import { promisify } from 'node:util'
import { Agent, buildConnector, EnvHttpProxyAgent, Pool, request, type Dispatcher } from 'undici'
import type { ProxySettings } from '#core/settings.ts'
import { AddressRefused, HostRefused, type PictureFetcher } from '#ports/image-upstream.ts'
import { isAllowedPort, isPublicAddress } from './address-guard.ts'
import { HttpTimeout, HttpTooLarge } from './http.ts'
import { PictureBytes } from './picture-bytes.ts'
import { unlessAborted } from './unless-aborted.ts'
import { codingIn, Unpacking } from './unpacking.ts'
import { USER_AGENT } from './user-agent.ts'

type Connector = ReturnType<typeof buildConnector>

export interface PictureFetchOptions {
  readonly connectTimeoutMs: number
  readonly proxy?: ProxySettings | undefined
  /** Allows http:// outside of the trusted origin too. */
  readonly allowHttp?: boolean | undefined
  /** All addresses of a host. */
  readonly lookup?: ((host: string) => Promise<readonly LookupAddress[]>) | undefined
  /** Opens connections to a host, to these addresses and no others. */
  readonly connectTo?: ((addresses: readonly LookupAddress[], timeoutMs: number) => Connector) | undefined
}

type FetchOptions = Parameters<PictureFetcher['fetch']>[1]

/** Redirects followed: result addresses usually redirect once, to a store. */
const MAX_REDIRECTS = 3
/** Longest host name of DNS. */
const MAX_HOST_LENGTH = 253
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308])

export class GuardedPictureFetcher implements PictureFetcher {
  readonly #options: PictureFetchOptions

  constructor(options: PictureFetchOptions) {
    this.#options = options
  }

  async fetch(url: string, options: FetchOptions): Promise<Uint8Array<ArrayBuffer>> {
    const { timeoutMs } = options
    const deadline = new AbortController()
    const late = new HttpTimeout(`no picture within ${Math.round(timeoutMs)} ms`)
    const timer = setTimeout(() => deadline.abort(late), Math.max(0, timeoutMs))
    try {
      let next: URL | string = url
      for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects += 1) {
        const step = await this.#step(next, options, deadline.signal)
        if (step instanceof Uint8Array) return step
        next = step
      }
      throw new AddressRefused(`more than ${MAX_REDIRECTS} redirects`)
    } catch (error) {
      throw deadline.signal.aborted ? late : error
    } finally {
      clearTimeout(timer)
    }
  }

  /** The picture, or where to look for it next. */
  async #step(
    address: URL | string,
    options: FetchOptions,
    signal: AbortSignal,
  ): Promise<Uint8Array<ArrayBuffer> | URL> {
    const url = parsed(address)
    const { trustedOrigin, trustedHosts = [], accept = 'image/*' } = options
    const isTrusted = url.origin === trustedOrigin || trustedHosts.includes(url.host)
    // A resolver can't be aborted.
    const addresses = isTrusted ? undefined : await unlessAborted(signal, this.#checked(url))
    const dispatcher = this.#dispatcher(addresses)
    try {
      const answer = await request(url, {
        dispatcher,
        signal,
        // Neither a credential nor a cookie, even if the server asks for one.
        headers: { 'user-agent': USER_AGENT, accept, 'accept-encoding': 'identity' },
      })
      answer.body.on('error', () => {})
      if (REDIRECTS.has(answer.statusCode)) return redirection(answer, url)
      if (answer.statusCode !== 200) throw new Error(`status ${answer.statusCode} instead of a picture`)
      return await bytesOf(answer, options.maxBytes)
    } finally {
      void dispatcher.destroy().catch(() => {})
    }
  }

  async #checked(url: URL): Promise<readonly LookupAddress[]> {
    if (url.protocol !== 'https:' && !this.#options.allowHttp) throw new AddressRefused('it is not https')
    if (!isAllowedPort(url.port)) throw new AddressRefused(`port ${url.port} is not one for pictures`)
    const host = url.hostname.replace(/^\[(.*)\]$/, '$1')
    if (host.length > MAX_HOST_LENGTH) throw new AddressRefused('its host is longer than a name can be')
    // A literal address never goes through the resolver: the platform dials it as it is.
    const family = isIP(host)
    const { lookup = resolveAll } = this.#options
    const addresses = family === 0 ? await lookup(host) : [{ address: host, family }]
    if (addresses.length === 0) throw new HostRefused('its host has no address')
    for (const { address } of addresses) {
      if (!isPublicAddress(address) || isOwnAddress(address)) {
        throw new HostRefused('its host is not on the public internet')
      }
    }
    return addresses
  }

  /**
   * A proxy too is asked for a tunnel to a checked address: it would resolve the name again, perhaps to an
   * internal one. The name is used in the TLS handshake and in the request. Hosts exempt from the proxy are
   * dialled like any other.
   */
  #dispatcher(addresses: readonly LookupAddress[] | undefined): Dispatcher {
    const { connectTimeoutMs, connectTo = pinned, proxy } = this.#options
    const connect = addresses ? connectTo(addresses, connectTimeoutMs) : { timeout: connectTimeoutMs }
    // The fetch has its own deadline.
    const agentOptions = { connect, headersTimeout: 0, bodyTimeout: 0, allowH2: false }
    if (proxy === undefined) return new Agent(agentOptions)
    const { http, https, no } = proxy
    return new EnvHttpProxyAgent({
      ...agentOptions,
      ...(addresses === undefined
        ? {}
        : {
            proxyTunnel: true,
            clientFactory: (origin: URL, options: object) => tunnelsTo(addresses, new Pool(origin, options)),
          }),
      ...(http === undefined ? {} : { httpProxy: http }),
      ...(https === undefined ? {} : { httpsProxy: https }),
      ...(no === undefined ? {} : { noProxy: no }),
    })
  }
}

function parsed(address: URL | string): URL {
  const url = URL.parse(String(address))
  if (url === null) throw new AddressRefused('it is not a URL')
  if (url.protocol !== 'https:' && url.protocol !== 'http:') throw new AddressRefused('it is not https')
  if (url.username !== '' || url.password !== '') throw new AddressRefused('it holds a credential')
  return url
}

const lookupAll = promisify(dnsLookup)

function resolveAll(host: string): Promise<readonly LookupAddress[]> {
  return lookupAll(host, { all: true })
}

/** A machine may have public addresses, with listeners meant for itself. */
function isOwnAddress(address: string): boolean {
  return Object.values(networkInterfaces()).some((own) => own?.some((entry) => entry.address === address))
}

function pinned(addresses: readonly LookupAddress[], timeoutMs: number): Connector {
  const connect = buildConnector({
    timeout: timeoutMs,
    allowH2: false,
    lookup: (_host, options, callback) => {
      if (options.all) callback(null, [...addresses])
      else callback(null, addresses[0]?.address ?? '', addresses[0]?.family)
    },
  })
  return (options, callback) =>
    connect(options, (error, socket) => {
      if (error !== null) return callback(error, null)
      if (isPublicAddress(socket.remoteAddress ?? '')) return callback(null, socket)
      socket.destroy()
      callback(new HostRefused('its host is not on the public internet'), null)
    })
}

/** Replaces the name with an address in everything that the proxy is asked for, which are tunnels. */
function tunnelsTo(addresses: readonly LookupAddress[], proxy: Dispatcher): Dispatcher {
  // Proxies without IPv6 are common.
  const chosen = addresses.find(({ family }) => family === 4) ?? addresses[0]
  if (chosen === undefined) throw new AddressRefused('its host has no address')
  const host = chosen.family === 6 ? `[${chosen.address}]` : chosen.address
  return proxy.compose((dispatch) => (options, handler) => {
    const port = options.path.slice(options.path.lastIndexOf(':') + 1)
    const authority = `${host}:${port}`
    const headers = { ...(options.headers as Record<string, string>), host: authority }
    return dispatch({ ...options, path: authority, headers }, handler)
  })
}

function redirection({ headers }: Dispatcher.ResponseData, from: URL): URL {
  const { location } = headers
  const to = typeof location === 'string' ? URL.parse(location, from) : null
  if (to === null) throw new AddressRefused('it redirects to no URL')
  return to
}

async function bytesOf(answer: Dispatcher.ResponseData, maxBytes: number): Promise<Uint8Array<ArrayBuffer>> {
  const { headers, body } = answer
  if (Number(headers['content-length'] ?? 0) > maxBytes) throw tooLarge(maxBytes)
  const picture = new PictureBytes()
  const add = (chunk: Uint8Array): void => {
    picture.add(chunk)
    if (picture.size > maxBytes) throw tooLarge(maxBytes)
  }
  const coding = codingIn(headers)
  if (coding === undefined) for await (const chunk of body as AsyncIterable<Buffer>) add(chunk)
  else await unpacked(body, coding, add)
  return picture.whole()
}

/** Passes on what it unpacks. The first error of either side ends it. */
function unpacked(body: Readable, coding: string, add: (bytes: Uint8Array) => void): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const unpacking = new Unpacking(coding, {
    push(bytes) {
      try {
        add(bytes)
      } catch (error) {
        unpacking.stop()
        reject(error)
      }
    },
    end: (error) => (error === undefined ? resolve() : reject(error)),
  })
  body.on('data', (chunk: Uint8Array) => unpacking.write(chunk, body))
  body.on('end', () => unpacking.end())
  body.on('error', (error) => {
    unpacking.stop()
    reject(error)
  })
  return promise
}

function tooLarge(maxBytes: number): HttpTooLarge {
  return new HttpTooLarge(`a picture of more than ${maxBytes} bytes`)
}
