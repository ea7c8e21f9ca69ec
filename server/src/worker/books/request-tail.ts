/** Requests of this node as they are written to the log, for those who watch. While nobody does, it costs nothing. */
import type { RequestRecord } from '#ports/observer.ts'
import type { LoggedRequest, RequestTail, TailReader } from '#ports/request-reports.ts'
import { loggedRequest } from './logged-request.ts'

/** Of a second in which more ended, a reader gets the newest, and how many it did not get. */
const MOST_WAITING = 1000

export class NodeRequestTail implements RequestTail {
  readonly #node: string
  readonly #readers = new Set<Reader>()

  constructor(node: string) {
    this.#node = node
  }

  open(): TailReader {
    const reader = new Reader(() => this.#readers.delete(reader))
    this.#readers.add(reader)
    return reader
  }

  written(records: readonly RequestRecord[]): void {
    if (this.#readers.size === 0) return
    const rows = records.flatMap((record) => loggedRequest(record, this.#node) ?? [])
    for (const reader of this.#readers) reader.add(rows)
  }
}

class Reader implements TailReader {
  readonly close: () => void
  #waiting: LoggedRequest[] = []
  #skipped = 0

  constructor(close: () => void) {
    this.close = close
  }

  add(rows: readonly LoggedRequest[]): void {
    this.#waiting.push(...rows)
    const excess = this.#waiting.length - MOST_WAITING
    if (excess <= 0) return
    this.#waiting.splice(0, excess)
    this.#skipped += excess
  }

  take(): { readonly rows: readonly LoggedRequest[]; readonly skipped: number } {
    const taken = { rows: this.#waiting, skipped: this.#skipped }
    this.#waiting = []
    this.#skipped = 0
    return taken
  }
}
