/** The request log, written in portions. No request waits for it: what is too much is dropped and counted. */
import type { RequestRecord } from '#ports/observer.ts'
import type { RequestLogStore } from '#ports/request-log.ts'
import { StoreAway } from '#ports/store.ts'

/** A few seconds of a busy node: enough for a slow moment of the store, too little to matter in memory. */
const WAITING_MAX = 10_000
/** One statement takes a few milliseconds for so many. */
const PORTION = 1000
/** A person who looks at the log sees what happened a moment ago. */
const WAIT_MS = 200

/** Refused records of one portion that are looked for. A store that refuses more of them refuses all. */
const MOST_REFUSALS = 20

export interface RequestLogEvents {
  dropped(records: number): void
  /** These are in the store, or were refused by it. */
  written(records: readonly RequestRecord[]): void
  /** The store refused records for what they are: a defect of the node. */
  refused(records: number, error: Error): void
}

export class RequestLog {
  readonly #store: RequestLogStore
  readonly #events: RequestLogEvents
  #waiting: RequestRecord[] = []
  #timer: NodeJS.Timeout | undefined
  #writing: Promise<void> | undefined

  constructor(store: RequestLogStore, events: RequestLogEvents) {
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

  /** Writes what waits, once. */
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
      const portion = this.#waiting.slice(0, PORTION)
      try {
        await this.#append(portion, { refusalsLeft: MOST_REFUSALS })
      } catch {
        return
      }
      this.#waiting.splice(0, portion.length)
      this.#events.written(portion)
    }
  }

  /** A record that the store refuses takes no other with it: halves find it. Rejects only while the store is away. */
  async #append(records: readonly RequestRecord[], search: { refusalsLeft: number }): Promise<void> {
    try {
      await this.#store.append(records)
    } catch (error) {
      if (error instanceof StoreAway) throw error
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
