/** The client address of a request that passed through proxies. */

/** An address or a network, as the operator wrote it. */
export interface AddressRange {
  readonly address: string
  readonly prefixBits: number
  readonly family: 'ipv4' | 'ipv6'
}

/** 4, 6, or 0 for a text that is no address. */
export type IpVersionOf = (text: string) => number

/** `10.0.0.0/8`, `2001:db8::1`. Undefined for anything else, also for a network of all addresses, which would trust everyone. */
export function addressRangeOf(text: string, versionOf: IpVersionOf): AddressRange | undefined {
  const [address = '', bits, ...rest] = text.split('/')
  const version = versionOf(address)
  const widthBits = version === 4 ? 32 : 128
  const prefixBits = bits === undefined ? widthBits : /^\d{1,3}$/.test(bits) ? Number(bits) : -1
  const isRange = version !== 0 && rest.length === 0 && prefixBits > 0 && prefixBits <= widthBits
  if (!isRange || address.includes('%')) return undefined
  return { address, prefixBits, family: version === 4 ? 'ipv4' : 'ipv6' }
}

export interface ProxyRules {
  readonly isAddress: (text: string) => boolean
  readonly isTrusted: (address: string) => boolean
}

/** Longest chain of proxies, more than any network has. A client can write as many entries as fit into 16 KB of headers. */
const MAX_PROXIES = 16

/**
 * Each proxy appends the address that called it to `x-forwarded-for`. The walk therefore goes from the node outwards:
 * entries of trusted proxies count, and everything before the first untrusted address may be forged.
 */
export function clientAddressOf(
  peer: string,
  forwardedFor: string | undefined,
  { isAddress, isTrusted }: ProxyRules,
): string {
  let address = plainAddress(peer)
  if (forwardedFor === undefined) return address
  let end = forwardedFor.length
  for (let proxies = 0; proxies < MAX_PROXIES && end > 0 && isTrusted(address); proxies += 1) {
    const comma = forwardedFor.lastIndexOf(',', end - 1)
    const entry = plainAddress(forwardedFor.slice(comma + 1, end).trim())
    // Such as `unknown`. The address of the proxy that wrote it is the last known one.
    if (!isAddress(entry)) return address
    address = entry
    end = comma
  }
  return address
}

const MAPPED = '::ffff:'

/** One form for each address: without a port, brackets, a zone, or the prefix that makes IPv4 look like IPv6. */
export function plainAddress(text: string): string {
  if (!text.includes(':')) return text
  // The usual form of a peer on a listener for both kinds of addresses.
  if (text.startsWith(MAPPED) && text.indexOf(':', MAPPED.length) === -1) return unmapped(text)
  let address = text
  if (address.startsWith('[')) address = address.slice(1).split(']', 1)[0] ?? ''
  else if (/^[\d.]+:\d+$/.test(address)) address = address.slice(0, address.indexOf(':'))
  address = address.split('%', 1)[0] ?? ''
  return address.slice(0, MAPPED.length).toLowerCase() === MAPPED ? unmapped(address) : address
}

function unmapped(address: string): string {
  return address.includes('.') ? address.slice(MAPPED.length) : address
}

/** One customer of a provider has 2^64 addresses of IPv6: they count as one. */
export function networkOf(address: string): string {
  if (!address.includes(':')) return address
  const [head = ''] = address.split('::')
  return head.split(':').slice(0, 4).join(':')
}
