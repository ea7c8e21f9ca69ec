/**
 * Decides which addresses belong to the public internet. All others belong to an internal network, which an
 * address from a stranger must not open.
 */
import { isIPv6 } from 'node:net'
import ipaddr from 'ipaddr.js'

/** Addresses that look public and lead to a cloud's internal network. Those within private ranges need no mention. */
const METADATA: ReadonlySet<string> = new Set([
  // Azure's virtual host: DNS, health probes and the wire server.
  '168.63.129.16',
])

/** What IANA has allocated as global unicast. Everything else in IPv6 is special or unallocated. */
const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR('2000::/3')
/** NAT64 as a whole network may use it: how an IPv6-only host reaches IPv4. */
const NAT64 = ipaddr.IPv6.parseCIDR('64:ff9b::/96')

/**
 * Whether an address, in its plain form, may be connected to when a stranger named it. False for anything
 * that is no address.
 */
export function isPublicAddress(address: string): boolean {
  if (ipaddr.IPv4.isValidFourPartDecimal(address)) return isPublicIpv4(ipaddr.IPv4.parse(address))
  // In hexadecimal: the library takes `::8.8.8.8` for a mapped address, which the platform does not. A zone, which names an
  // interface of this machine, has no such form.
  const plain = URL.parse(`http://[${address}]`)?.hostname.slice(1, -1)
  if (plain === undefined || !isIPv6(address)) return false
  const parsed = ipaddr.IPv6.parse(plain)
  // Both wrap IPv4. All other ways to embed it (6to4, Teredo, compatible, translated) are refused.
  if (parsed.isIPv4MappedAddress() || parsed.match(NAT64)) {
    return isPublicIpv4(new ipaddr.IPv4(parsed.toByteArray().slice(-4)))
  }
  return parsed.range() === 'unicast' && parsed.match(GLOBAL_UNICAST)
}

function isPublicIpv4(address: ipaddr.IPv4): boolean {
  return address.range() === 'unicast' && !METADATA.has(address.toString())
}

/** Ports of other protocols that an HTTP request could be abused for; the list is that of the Fetch standard. */
const BAD_PORTS: ReadonlySet<number> = new Set([
  0, 1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103, 104,
  109, 110, 111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465, 512, 513, 514, 515,
  526, 530, 531, 532, 540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993, 995, 1719, 1720, 1723, 2049,
  3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080,
])

/** An empty port is the scheme's own. */
export function isAllowedPort(port: string): boolean {
  return port === '' || !BAD_PORTS.has(Number(port))
}
