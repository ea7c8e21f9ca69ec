/** The request log, written in pages. No request waits for it: excess records are dropped and counted. */
import type { RequestRecord } from '#ports/observer.ts'
import type { PostgresRequests } from '#stores/postgres/ledger/requests.ts'
import { StoreUnreachable } from '#ports/store.ts'

/** Records that wait in memory: a few seconds of a busy node, enough for a slow moment of the store. */
const WAITING_MAX = 10_000
/** Records per statement, which takes a few milliseconds. */
const PAGE_SIZE = 1000
/** Delay of a write: a person who looks at the log sees what happened a moment ago. */
const WAIT_MS = 200

/** Refused records of one page that are searched for. A store that refuses more of them refuses all. */
const MAX_REFUSALS = 20

export interface RequestLogEvents {
  dropped(records: number): void
  /** These records are in the store, or were refused by it. */
  written(records: readonly RequestRecord[]): void
  /** The store refused records for their content: a defect of the node. */
  refused(records: number, error: Error): void
}

export class RequestLog {
  readonly #store: Pick<PostgresRequests, 'append'>
  readonly #events: RequestLogEvents
  #waiting: RequestRecord[] = []
  #timer: NodeJS.Timeout | undefined
  #writing: Promise<void> | undefined

  constructor(store: Pick<PostgresRequests, 'append'>, events: RequestLogEvents) {
    this.#store = store
    this.#events = events
  }

  add(record: RequestRecord): void {
    if (this.#waiting.length >= WAITING_MAX) {
      this.#events.dropped(1)
      return
    }
    this.#waiting.push(record)
    this.#timer ??= setTimeout(() => this.#begin(), WAIT_MS).unref()
  }

  /** Writes the waiting records once. */
  async close(): Promise<void> {
    clearTimeout(this.#timer)
    await this.#writing
    await this.#write()
  }

  #begin(): void {
    this.#writing ??= this.#write().finally(() => {
      this.#writing = undefined
      this.#timer = this.#waiting.length > 0 ? setTimeout(() => this.#begin(), WAIT_MS).unref() : undefined
    })
  }

  async #write(): Promise<void> {
    while (this.#waiting.length > 0) {
      const page = this.#waiting.slice(0, PAGE_SIZE)
      try {
        await this.#append(page, { refusalsLeft: MAX_REFUSALS })
      } catch {
        return
      }
      this.#waiting.splice(0, page.length)
      this.#events.written(page)
    }
  }

  /**
   * A refused record must not take others with it: splitting in halves finds it. Rejects only while the store
   * is unreachable.
   */
  async #append(records: readonly RequestRecord[], search: { refusalsLeft: number }): Promise<void> {
    try {
      await this.#store.append(records)
    } catch (error) {
      if (error instanceof StoreUnreachable) throw error
      if (records.length === 1 || search.refusalsLeft === 0) {
        search.refusalsLeft = Math.max(0, search.refusalsLeft - 1)
        return this.#events.refused(records.length, error as Error)
      }
      const middle = Math.ceil(records.length / 2)
      await this.#append(records.slice(0, middle), search)
      await this.#append(records.slice(middle), search)
    }
  }
}
