import { pino, type DestinationStream, type Logger } from 'pino'
import type { LogLevel } from '#core/settings.ts'

export type Log = Logger

/** Lines are handed to the system in blocks: a write per request would cost more than the request's own work. */
const BLOCK_BYTES = 8 * 1024
/** Nobody watching a log should wait longer than this for a line. */
const FLUSH_MS = 200

export interface OpenLog {
  readonly log: Log
  /** Writes what is still held. */
  readonly close: () => void
}

/** JSON lines on standard output. Secrets, texts and vectors are never handed to it. */
export function openLog(level: LogLevel): OpenLog {
  const destination = pino.destination({ dest: 1, minLength: BLOCK_BYTES, sync: false })
  const timer = setInterval(() => destination.flush(), FLUSH_MS)
  timer.unref()
  return {
    log: makeLog(level, destination),
    close() {
      clearInterval(timer)
      try {
        destination.flushSync()
      } catch {
        // Not open yet, or the reader has gone: there is nowhere left to say so.
      }
    },
  }
}

function makeLog(level: LogLevel, destination: DestinationStream): Log {
  return pino(
    { level, base: null, messageKey: 'message', timestamp: pino.stdTimeFunctions.isoTime },
    destination,
  )
}
