import { pino, type Logger } from 'pino'
import type { LogFormat, LogLevel } from '#core/settings.ts'
import { StoreUnreachable } from '#ports/store.ts'
import { lineText } from './line-text.ts'

/** Lines of requests are written in blocks: a write for each would cost more than building it. */
const BLOCK_BYTES = 64 * 1024
/** Longest delay of a line. */
const FLUSH_MS = 200

export interface Log extends Pick<Logger, 'debug' | 'info' | 'warn' | 'error'> {
  /** Writes a line that is JSON already; the hot lane builds its own. */
  readonly line: (json: string) => void
  /** Whether lines of this level are written at all. */
  readonly writes: (level: 'debug' | 'info') => boolean
  /** Writes the buffered lines. */
  readonly close: () => void
}

/** Lines on standard output: JSON for programs, text for people. Secrets, texts and vectors are never passed to it. */
export function openLog(level: LogLevel, format: LogFormat = 'json'): Log {
  const file = pino.destination({ dest: 1, sync: false })
  const { isTTY } = process.stdout
  const isText = format === 'text' || (format === 'auto' && isTTY)
  const destination = isText ? asText(file, isTTY && !process.env['NO_COLOR']) : file
  const lines = new LineBlock((text) => void destination.write(text))
  const timer = setInterval(() => lines.flush(), FLUSH_MS)
  timer.unref()
  const log = pino(
    {
      level,
      base: null,
      messageKey: 'message',
      formatters: { level: (label) => ({ level: label }) },
      serializers: { err: errorFields },
      timestamp: pino.stdTimeFunctions.isoTime,
    },
    destination,
  )
  return {
    debug: log.debug.bind(log),
    info: log.info.bind(log),
    warn: log.warn.bind(log),
    error: log.error.bind(log),
    line: (json) => lines.add(json),
    writes: (given) => log.isLevelEnabled(given),
    close() {
      clearInterval(timer)
      lines.flush()
      try {
        file.flushSync()
      } catch {
        // Not open yet, or the reader has gone: there is nowhere left to report it.
      }
    },
  }
}

/** An unreachable store is no mistake of the code: where the code asked for it helps no operator, and fills the log. */
function errorFields(error: Error): object {
  if (error instanceof StoreUnreachable) return { type: error.name, message: error.message }
  return pino.stdSerializers.err(error)
}

interface Destination {
  write(text: string): unknown
}

/** Hands on each JSON line as text. */
function asText(destination: Destination, isColoured: boolean): Destination {
  return {
    write(text) {
      for (const line of text.trimEnd().split('\n')) destination.write(`${lineText(line, isColoured)}\n`)
    },
  }
}

/** Collects lines as bytes: as strings, thousands of small ones would wait for the garbage collector. */
class LineBlock {
  readonly #block = Buffer.allocUnsafe(BLOCK_BYTES)
  readonly #write: (text: string) => void
  #at = 0

  constructor(write: (text: string) => void) {
    this.#write = write
  }

  add(line: string): void {
    // No character takes more than three bytes.
    const room = line.length * 3 + 1
    if (this.#at + room > BLOCK_BYTES) this.flush()
    if (room > BLOCK_BYTES) this.#write(`${line}\n`)
    else {
      this.#at += this.#block.write(line, this.#at, 'utf8')
      this.#block[this.#at++] = 0x0a
    }
  }

  flush(): void {
    if (this.#at === 0) return
    const text = this.#block.toString('utf8', 0, this.#at)
    this.#at = 0
    this.#write(text)
  }
}
