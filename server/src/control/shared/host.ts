/** Names by which the control port answers: otherwise a page of another site could point its own name at this node and read it. */
import type { IncomingMessage } from 'node:http'
import { isIP } from 'node:net'
import { Fault } from '#core/fault/fault.ts'

type Asked = Pick<IncomingMessage, 'headers' | 'socket'>

const LOOPBACK = /^(?:127\.|::1$|::ffff:127\.)/
const THIS_MACHINE = /^(?:localhost|.+\.localhost)$/i

/**
 * Addresses and names of this machine are always accepted, and so is the name in CONSOLE_URL. Any other name is refused on a connection
 * of this machine; if CONSOLE_URL is set, also on any other connection whose request brings no token.
 */
export function checkHost({ headers, socket }: Asked, consoleUrl: string | undefined): void {
  const { host } = headers
  // Connections by the socket in the data folder have no addresses, and no browser opens them.
  if (host === undefined || socket.localAddress === undefined) return
  const name = nameIn(host)
  if (isIP(name) !== 0 || THIS_MACHINE.test(name)) return
  const right = consoleUrl === undefined ? undefined : URL.parse(consoleUrl)?.hostname.toLowerCase()
  if (name.toLowerCase() === right) return
  const isAsked = LOOPBACK.test(socket.localAddress)
  if (!isAsked && (right === undefined || headers.authorization !== undefined)) return
  throw new Fault(
    'wrong_host',
    `The Host header is '${host.slice(0, 100)}', which is not a name of this control port. Open the console by its address, or set CONSOLE_URL to the address that people open.`,
  )
}

/** Without its port, and without the brackets of IPv6. */
function nameIn(host: string): string {
  return host.replace(/:\d+$/, '').replace(/^\[(.*)\]$/, '$1')
}
