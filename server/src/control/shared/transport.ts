/** How a browser reaches the console: by which address, and whether others can read along. */
import type { FastifyRequest } from 'fastify'
import { Fault } from '#core/fault/fault.ts'
import type { Settings } from '#core/settings.ts'
import { clientAddressBehind, isFromProxy } from '#http/client-address.ts'

export interface Transport {
  /** The address of the client. */
  readonly client: string
  /** The origin of the console as this browser sees it. */
  readonly origin: string
  /** The browser speaks TLS with this install. */
  readonly isSecure: boolean
  /** The browser runs on the machine of this node. */
  readonly isThisMachine: boolean
}

type Asked = Pick<FastifyRequest, 'raw' | 'headers'>

const LOOPBACK = /^(?:127\.|::1$)/
const FORWARDED = ['forwarded', 'x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto', 'x-real-ip']

export class Transports {
  readonly #clientAddress: ReturnType<typeof clientAddressBehind>
  readonly #isFromProxy: ReturnType<typeof isFromProxy>
  readonly #console: URL | null
  readonly #isInsecureAllowed: boolean

  constructor(settings: Pick<Settings, 'trustedProxies' | 'consoleUrl' | 'insecureConsole'>) {
    const { trustedProxies, consoleUrl, insecureConsole } = settings
    this.#clientAddress = clientAddressBehind(trustedProxies)
    this.#isFromProxy = isFromProxy(trustedProxies)
    this.#console = consoleUrl === undefined ? null : URL.parse(consoleUrl)
    this.#isInsecureAllowed = insecureConsole
  }

  of({ raw, headers }: Asked): Transport {
    const byProxy = this.#isFromProxy(raw)
    const forwardedHost = byProxy ? lastOf(headers['x-forwarded-host']) : undefined
    const host = forwardedHost ?? headers.host ?? ''
    const isNamed = this.#console?.protocol === 'https:' && host === this.#console.host
    const isSecure =
      isEncrypted(raw) || isNamed || (byProxy && lastOf(headers['x-forwarded-proto']) === 'https')
    const client = this.#clientAddress(raw)
    // Behind a proxy that is not trusted there may be any machine.
    const isDirect = byProxy || FORWARDED.every((name) => headers[name] === undefined)
    return {
      client,
      origin: `${isSecure ? 'https' : 'http'}://${host}`,
      isSecure,
      isThisMachine: isDirect && LOOPBACK.test(client),
    }
  }

  /** Whether passwords and cookies may be sent. */
  isPrivate(request: Asked): boolean {
    const { isSecure, isThisMachine } = this.of(request)
    return isSecure || isThisMachine || this.#isInsecureAllowed
  }

  /** Throws where a password or a cookie could be read by others. */
  checkPrivate(request: Asked): void {
    if (this.isPrivate(request)) return
    const { client } = this.of(request)
    throw new Fault(
      'insecure_sign_in',
      `Over plain http only this machine may sign in, and this request comes from ${client}. Put TLS in front of the control port and set CONSOLE_URL to its https address, with TRUSTED_PROXIES for the proxy; or set TORANA_INSECURE_CONSOLE=true in a network that you trust.`,
    )
  }

  /** Throws where the page that sends a change is not the console's own. */
  checkOrigin(request: Asked): void {
    const { origin } = request.headers
    if (origin !== undefined && (origin === this.of(request).origin || origin === this.#console?.origin))
      return
    throw new Fault(
      'wrong_origin',
      origin === undefined
        ? 'A change with a session needs the header Origin, as browsers send it. Programs use a token instead.'
        : 'This change was sent by a page of another address than the console.',
    )
  }

  /** The address of a page of the console, for a link. */
  link(request: Asked, path: string): string {
    const base = this.#console?.href ?? `${this.of(request).origin}/`
    return new URL(path, base.endsWith('/') ? base : `${base}/`).href
  }
}

/** The control port itself speaks TLS. */
function isEncrypted({ socket }: FastifyRequest['raw']): boolean {
  return 'encrypted' in socket && socket.encrypted === true
}

/** The value that the nearest proxy wrote. */
function lastOf(header: string | string[] | undefined): string | undefined {
  const text = Array.isArray(header) ? header.join() : header
  return text?.split(',').at(-1)?.trim()
}
