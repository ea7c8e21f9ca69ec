/** Captured inputs, written in pages. No request waits for it: what does not fit is dropped and counted. */
import {
  MAX_CAPTURED_BYTES,
  type CapturedInput,
  type CapturedRequest,
  type CaptureStore,
  type HeldInput,
  type InputCapture,
} from '#ports/captures.ts'
import type { Clock } from '#ports/clock.ts'
import { StoreUnreachable } from '#ports/store.ts'

/** Bytes of bodies that requests in progress and the next pages hold: a part of the memory that bodies may take. */
const MAX_HELD_BYTES = 32 * 1024 * 1024
/** Bytes and requests of one statement: it takes a fraction of a second. */
const MAX_PAGE_BYTES = 8 * 1024 * 1024
const MAX_PAGE_REQUESTS = 200
/** Delay of a write: a person may want to send a request again that failed a moment ago. */
const WAIT_MS = 200

interface CaptureEvents {
  dropped(requests: number): void
  /** The store refused them for their content: a defect of the node. */
  refused(requests: number, error: Error): void
}

export interface CaptureParts {
  readonly captures: InputCapture['captures']
  readonly store: Pick<CaptureStore, 'append'>
  readonly clock: Pick<Clock, 'nowMs'>
  readonly events: CaptureEvents
}

export class Captures implements InputCapture {
  readonly captures: InputCapture['captures']
  readonly #parts: CaptureParts
  #heldBytes = 0
  #waiting: CapturedRequest[] = []
  #timer: NodeJS.Timeout | undefined
  #writing: Promise<void> | undefined

  constructor(parts: CaptureParts) {
    this.captures = parts.captures
    this.#parts = parts
  }

  hold(project: string, input: CapturedInput): HeldInput | undefined {
    const { length } = input.body
    if (length > MAX_CAPTURED_BYTES) return undefined
    const { clock, events } = this.#parts
    if (this.#heldBytes + length > MAX_HELD_BYTES) {
      events.dropped(1)
      return undefined
    }
    this.#heldBytes += length
    // The bytes of a large body go to the thread that parses it.
    const own = { ...input, body: Buffer.from(input.body) }
    return {
      keep: ({ requestId, hasFailed }) => {
        this.#waiting.push({ requestId, project, hasFailed, capturedAtMs: clock.nowMs(), input: own })
        this.#timer ??= setTimeout(() => this.#begin(), WAIT_MS).unref()
      },
    }
  }

  /** Writes what waits once. */
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
    const { store, events } = this.#parts
    while (this.#waiting.length > 0) {
      const page = this.#nextPage()
      try {
        await store.append(page)
      } catch (error) {
        if (error instanceof StoreUnreachable) events.dropped(page.length)
        else events.refused(page.length, error as Error)
      }
      this.#waiting.splice(0, page.length)
      this.#heldBytes -= bytesOf(page)
    }
  }

  #nextPage(): readonly CapturedRequest[] {
    const page: CapturedRequest[] = []
    let bytes = 0
    for (const request of this.#waiting.slice(0, MAX_PAGE_REQUESTS)) {
      bytes += request.input.body.length
      if (page.length > 0 && bytes > MAX_PAGE_BYTES) break
      page.push(request)
    }
    return page
  }
}

function bytesOf(requests: readonly CapturedRequest[]): number {
  return requests.reduce((sum, { input }) => sum + input.body.length, 0)
}
