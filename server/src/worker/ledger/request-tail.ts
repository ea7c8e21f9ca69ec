/** Requests of this node as they are written to the log, for live viewers. Without a viewer it costs nothing. */
import type { RequestRecord } from '#ports/observer.ts'
import { KIND_OF_ROUTE, type RequestTail, type TailReader } from '#ports/request-reports.ts'

/** Records kept for a viewer per second: beyond it, the viewer gets the newest and the number of the others. */
const MAX_WAITING = 1000

export class NodeRequestTail implements RequestTail {
  readonly #readers = new Set<Reader>()

  open(): TailReader {
    const reader = new Reader(() => this.#readers.delete(reader))
    this.#readers.add(reader)
    return reader
  }

  written(records: readonly RequestRecord[]): void {
    if (this.#readers.size === 0) return
    const shown = records.filter(({ route }) => KIND_OF_ROUTE.has(route))
    for (const reader of this.#readers) reader.add(shown)
  }
}

class Reader implements TailReader {
  readonly close: () => void
  #waiting: RequestRecord[] = []
  #skipped = 0

  constructor(close: () => void) {
    this.close = close
  }

  add(records: readonly RequestRecord[]): void {
    this.#waiting.push(...records)
    const excess = this.#waiting.length - MAX_WAITING
    if (excess <= 0) return
    this.#waiting.splice(0, excess)
    this.#skipped += excess
  }

  take(): ReturnType<TailReader['take']> {
    const taken = { records: this.#waiting, skipped: this.#skipped }
    this.#waiting = []
    this.#skipped = 0
    return taken
  }
}
