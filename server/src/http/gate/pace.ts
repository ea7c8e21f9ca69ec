/** How slowly a body may arrive. A sender that wants to hold a connection would otherwise send one byte before each time-out. */
import { Fault } from '#core/fault/fault.ts'

/** 1 KB a second: a telephone line of 1990 is faster, and a body of 8 MB at this pace takes two hours. */
const LEAST_BYTES_PER_MS = 1

/** What the node has seen of a body that still arrives. Time that the sender had to wait for the node does not count. */
export interface Pace {
  readonly bytes: number
  /** Since the last byte. */
  readonly idleMs: number
  /** Since the node began to read. */
  readonly readingMs: number
}

/** Undefined while the body arrives well enough. */
export function paceFault({ bytes, idleMs, readingMs }: Pace, mostIdleMs: number): Fault | undefined {
  if (idleMs >= mostIdleMs)
    return new Fault(
      'request_timeout',
      `The client sent nothing for ${mostIdleMs} ms before the body was complete. Send it again.`,
    )
  if (readingMs < mostIdleMs || bytes >= readingMs * LEAST_BYTES_PER_MS) return undefined
  return new Fault(
    'request_timeout',
    `The client sent ${bytes} bytes in ${Math.round(readingMs)} ms, less than 1 KB a second. Send it again over a faster line.`,
  )
}
