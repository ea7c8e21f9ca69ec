import type { IncomingMessage } from 'node:http'
import { BlockList, isIP } from 'node:net'
import { clientAddressOf, plainAddress, type AddressRange } from '#core/access/client-address.ts'

/** The address of the client of a request. Empty when the connection closed before the address was read. */
export type ClientAddress = (request: Pick<IncomingMessage, 'socket' | 'headers'>) => string

/** Without trusted proxies it is the other end of the connection, whatever a header says. */
export function clientAddressBehind(proxies: readonly AddressRange[]): ClientAddress {
  const rules = { isAddress: (text: string) => isIP(text) !== 0, isTrusted: trustedAmong(proxies) }
  const mayForward = proxies.length > 0
  return ({ socket, headers }) => {
    const { remoteAddress: peer = '' } = socket
    const forwardedFor = mayForward ? headers['x-forwarded-for'] : undefined
    return clientAddressOf(peer, Array.isArray(forwardedFor) ? forwardedFor.join() : forwardedFor, rules)
  }
}

/** Whether the other end of a connection is a proxy whose headers count. */
export function isFromProxy(
  proxies: readonly AddressRange[],
): (request: Pick<IncomingMessage, 'socket'>) => boolean {
  const isTrusted = trustedAmong(proxies)
  return ({ socket: { remoteAddress } }) =>
    remoteAddress !== undefined && isTrusted(plainAddress(remoteAddress))
}

function trustedAmong(ranges: readonly AddressRange[]): (address: string) => boolean {
  const trusted = new BlockList()
  for (const { address, prefixBits, family } of ranges) trusted.addSubnet(address, prefixBits, family)
  return (address) => trusted.check(address, address.includes(':') ? 'ipv6' : 'ipv4')
}
