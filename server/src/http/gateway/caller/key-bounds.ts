/** Checks whether a key may be used for this request, before anything of it is read. */
import type { IncomingMessage } from 'node:http'
import { BlockList, isIP } from 'node:net'
import { addressRangeOf } from '#core/access/client-address.ts'
import { Fault } from '#core/fault/fault.ts'
import { shareOfCalls, type KeyBounds, type KeyScope } from '#core/catalog/key-bounds.ts'
import type { Key } from '#ports/keys.ts'
import type { ClientAddress } from '../../client-address.ts'

/** Built once for each key: its bounds are replaced as a whole when the key changes. */
const networks = new WeakMap<KeyBounds, BlockList>()

/** Returns the key if it may be used from the client's address. */
export function checkedAddress(key: Key, request: IncomingMessage, clientAddress: ClientAddress): Key {
  const { bounds } = key
  if (bounds?.addresses === undefined) return key
  const address = clientAddress(request)
  if (networksOf(bounds, bounds.addresses).check(address, address.includes(':') ? 'ipv6' : 'ipv4')) return key
  throw new Fault(
    'address_not_allowed',
    `Key '${key.project}/${key.name}' may not be used from ${address === '' ? 'this address' : address}. Ask the operator to allow the address for it.`,
  )
}

export function checkScope({ name, bounds }: Key, scope: KeyScope): void {
  const { scopes } = bounds ?? {}
  if (scopes === undefined || scopes.has(scope)) return
  throw new Fault(
    'scope_not_allowed',
    `Key '${name}' may be used for ${[...scopes].join(', ')}, not for ${scope}. Ask the operator to allow it.`,
  )
}

/** A slot is free again when one of the key's own requests ends; clients retry after this. */
const RETRY_MS = 1000

/** Requests in progress on this node, of keys with a limit on them. */
export class CallsAtOnce {
  readonly #liveNodes: () => number
  readonly #inProgress = new Map<string, number>()

  constructor(liveNodes: () => number) {
    this.#liveNodes = liveNodes
  }

  /** A slot until it is disposed of. Undefined if the key needs none. */
  enter({ id, name, bounds }: Key): Disposable | undefined {
    const max = bounds?.maxCallsAtOnce
    if (max === undefined) return undefined
    const inProgress = this.#inProgress.get(id) ?? 0
    const share = shareOfCalls(max, this.#liveNodes())
    if (inProgress >= share)
      throw new Fault(
        'too_many_calls_at_once',
        `Key '${name}' may have ${max} concurrent requests${share < max ? `, ${share} of them on this node` : ''}. Retry when one of them has ended.`,
        { retryAfterMs: RETRY_MS },
      )
    this.#inProgress.set(id, inProgress + 1)
    return { [Symbol.dispose]: () => this.#leave(id) }
  }

  #leave(id: string): void {
    const left = (this.#inProgress.get(id) ?? 1) - 1
    if (left > 0) this.#inProgress.set(id, left)
    else this.#inProgress.delete(id)
  }
}

function networksOf(bounds: KeyBounds, addresses: readonly string[]): BlockList {
  const known = networks.get(bounds)
  if (known !== undefined) return known
  const list = new BlockList()
  for (const text of addresses) {
    // The address was checked when it was set. One that cannot be parsed would admit no client.
    const range = addressRangeOf(text, isIP)
    if (range !== undefined) list.addSubnet(range.address, range.prefixBits, range.family)
  }
  networks.set(bounds, list)
  return list
}
