import { isIP } from 'node:net'
import { addressRangeOf, type AddressRange } from '#core/access/client-address.ts'

const LOOPBACK: readonly AddressRange[] = [
  { address: '127.0.0.0', prefixBits: 8, family: 'ipv4' },
  { address: '::1', prefixBits: 128, family: 'ipv6' },
]

/** Addresses and networks, separated by commas. Throws with the entry that is neither. */
export function parseTrustedProxies(text: string): readonly AddressRange[] {
  return text
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '')
    .flatMap((entry) => (entry === 'loopback' ? LOOPBACK : [rangeOf(entry)]))
}

function rangeOf(entry: string): AddressRange {
  // A network of all addresses would trust every stranger's header.
  const range = addressRangeOf(entry, isIP)
  if (range !== undefined) return range
  throw new Error(
    `expected addresses or networks such as 10.0.0.0/8, 2001:db8::1 or loopback, separated by commas, got "${entry}"`,
  )
}
