/**
 * Sends spans to an OTLP receiver in batches. No request waits for it; spans that can't be sent in time are
 * dropped and counted.
 */
import { setTimeout as pause } from 'node:timers/promises'
import type { TracingSettings } from '#core/settings.ts'
import type { Log } from '../log.ts'
import { encodeExport, type Sender } from './otlp-message.ts'
import { postOtlp, type OtlpAnswer } from './otlp-post.ts'
import { encodeSpans } from './encode.ts'
import type { Span } from './span.ts'

/** Some ten thousand requests: minutes of an unreachable receiver under light load, seconds under heavy load. */
const QUEUE_BYTES = 8 * 1024 * 1024
/** Receivers usually take four megabytes. */
const BATCH_BYTES = 1024 * 1024
/** Interval of batches: a person who looks for a recent trace should not wait long. */
const INTERVAL_MS = 1000
const PAUSES_MS = [1000, 2000, 4000]

interface Piece {
  readonly bytes: Uint8Array
  readonly spans: number
}

export class TraceExporter {
  readonly #settings: TracingSettings
  readonly #sender: Sender
  readonly #log: Pick<Log, 'info' | 'warn'>
  readonly #timer: NodeJS.Timeout
  readonly #stop = new AbortController()
  #queue: Piece[] = []
  #queuedBytes = 0
  #sending: Promise<void> | undefined
  #isFailing = false
  /** Spans since the start, for metrics. */
  exported = 0
  dropped = 0

  constructor(settings: TracingSettings, sender: Sender, log: Pick<Log, 'info' | 'warn'>) {
    this.#settings = settings
    this.#sender = sender
    this.#log = log
    this.#timer = setInterval(() => this.#send(), INTERVAL_MS)
    this.#timer.unref()
  }

  add(spans: readonly Span[]): void {
    if (spans.length === 0) return
    const bytes = encodeSpans(spans)
    if (this.#queuedBytes + bytes.length > QUEUE_BYTES) {
      this.dropped += spans.length
      return
    }
    this.#queue.push({ bytes, spans: spans.length })
    this.#queuedBytes += bytes.length
    if (this.#queuedBytes >= BATCH_BYTES) this.#send()
  }

  /** Sends the remaining spans once. */
  async close(): Promise<void> {
    clearInterval(this.#timer)
    this.#stop.abort()
    await this.#sending
    this.#send()
    await this.#sending
  }

  #send(): void {
    if (this.#sending !== undefined || this.#queue.length === 0) return
    this.#sending = this.#sendAll().finally(() => {
      this.#sending = undefined
    })
  }

  async #sendAll(): Promise<void> {
    while (this.#queue.length > 0) {
      const batch = this.#takeBatch()
      const spans = batch.reduce((sum, piece) => sum + piece.spans, 0)
      const parts = batch.map(({ bytes }) => bytes)
      const { problem, rejected } = await this.#post(encodeExport(this.#sender, parts))
      const dropped = rejected ?? spans
      this.exported += spans - dropped
      this.dropped += dropped
      this.#tell(problem, dropped)
    }
  }

  #takeBatch(): readonly Piece[] {
    let bytes = 0
    let count = 0
    for (const piece of this.#queue) {
      if (count > 0 && bytes + piece.bytes.length > BATCH_BYTES) break
      bytes += piece.bytes.length
      count += 1
    }
    this.#queuedBytes -= bytes
    const batch = this.#queue.slice(0, count)
    this.#queue = this.#queue.slice(count)
    return batch
  }

  async #post(body: Buffer): Promise<OtlpAnswer> {
    let answer = await postOtlp(this.#settings, body)
    for (const pauseMs of PAUSES_MS) {
      if (answer.isFinal || this.#stop.signal.aborted) return answer
      await pause(pauseMs, undefined, { ref: false, signal: this.#stop.signal }).catch(() => {})
      answer = await postOtlp(this.#settings, body)
    }
    return answer
  }

  /** Logs once when it begins to fail, and once when it works again. */
  #tell(problem: string | undefined, spans: number): void {
    if (problem === undefined && this.#isFailing) this.#log.info('traces are sent again')
    if (problem !== undefined && !this.#isFailing)
      this.#log.warn(
        { url: this.#settings.url, problem, spans },
        'the receiver of OTEL_EXPORTER_OTLP_ENDPOINT took no traces; spans are dropped until it does',
      )
    this.#isFailing = problem !== undefined
  }
}
