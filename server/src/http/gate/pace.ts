/** How slowly a body may arrive. Otherwise one byte before each timeout would hold a connection for ever. */
import { Fault } from '#core/fault/fault.ts'

/** 1 KB per second: a modem of 1990 is faster, and a body of 8 MB at this pace takes two hours. */
const LEAST_BYTES_PER_MS = 1

/** What the node has seen of a body that still arrives. Time in which the node made the sender wait does not count. */
export interface Pace {
  readonly bytes: number
  /** Time since the last byte. */
  readonly idleMs: number
  /** Time since the node began to read. */
  readonly readingMs: number
}

/** Undefined while the body arrives fast enough. */
export function paceFault({ bytes, idleMs, readingMs }: Pace, maxIdleMs: number): Fault | undefined {
  if (idleMs >= maxIdleMs)
    return new Fault(
      'request_timeout',
      `The client sent nothing for ${maxIdleMs} ms before the body was complete. Send it again.`,
    )
  if (readingMs < maxIdleMs || bytes >= readingMs * LEAST_BYTES_PER_MS) return undefined
  return new Fault(
    'request_timeout',
    `The client sent ${bytes} bytes in ${Math.round(readingMs)} ms, less than 1 KB a second. Send it again over a faster line.`,
  )
}
