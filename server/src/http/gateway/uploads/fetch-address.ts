/** Fetches a file that a caller names by address. */
import { Fault, type FaultCode } from '#core/fault/fault.ts'
import type { FairShare } from '#core/schedule/fair-share.ts'
import { AddressRefused, HostRefused, type PictureFetcher } from '#ports/image-upstream.ts'

export interface FetchingOutside {
  readonly fetcher: PictureFetcher
  /** Memory for files that are fetched. */
  readonly memory: FairShare
  readonly wait: (ms: number) => Promise<unknown>
}

/** How a file is called in faults, and what it may have. */
interface FetchedAs {
  readonly param: string
  readonly project: string
  /** `an image`. */
  readonly what: string
  readonly maxBytes: number
  readonly noRoom: FaultCode
  readonly unreachable: FaultCode
  /** Media types, as the header `accept` writes them. */
  readonly accept: string
}

/** Longest wait for memory before 503. */
const MEMORY_WAIT_MS = 2000
/** The longest address that common servers accept. */
export const MAX_ADDRESS_LENGTH = 8192
/** Limit for one file that a caller named: a server that needs longer counts as unreachable. */
const FETCH_TIMEOUT_MS = 30_000

/** Whether it is an address that Torana could fetch. */
export function isWebAddress(value: unknown): value is string {
  const url = typeof value === 'string' && value.length <= MAX_ADDRESS_LENGTH ? URL.parse(value) : null
  return url !== null && /^https?:$/.test(url.protocol)
}

/** Passes the bytes to `take`, and holds memory for them until it is done. */
export async function fetchAddress<Taken>(
  address: string,
  { param, project, what, maxBytes, noRoom, unreachable, accept }: FetchedAs,
  { fetcher, memory, wait }: FetchingOutside,
  take: (bytes: Uint8Array<ArrayBuffer>) => Promise<Taken>,
): Promise<Taken> {
  using room = await memory.takeBefore(project, maxBytes, () => wait(MEMORY_WAIT_MS))
  if (room === undefined)
    throw new Fault(noRoom, `This node has no memory for another file of project '${project}'. Retry.`, {
      retryAfterMs: MEMORY_WAIT_MS,
    })
  const options = { trustedOrigin: undefined, timeoutMs: FETCH_TIMEOUT_MS, maxBytes, accept }
  const bytes = await fetcher.fetch(address, options).catch((cause: unknown) => {
    const isForm = cause instanceof AddressRefused && !(cause instanceof HostRefused)
    const why = isForm
      ? `: ${cause.message}`
      : ` from which Torana could not fetch ${what}. It must be on the public internet`
    throw new Fault(unreachable, `${param} names an address${why}.`, { param, cause })
  })
  return take(bytes)
}
