/** Traces of a node: which requests are sampled, and their spans once they have ended. */
import type { IncomingHttpHeaders } from 'node:http'
import type { TracingSettings } from '#core/settings.ts'
import { parentIn, TraceContext, type ParentSpan } from '#core/request/trace-context.ts'
import type { Clock } from '#ports/clock.ts'
import type { RequestRecord } from '#ports/observer.ts'
import type { TraceExporter } from './exporter.ts'
import { spansOf, type PlaceOf } from './spans.ts'

/** Digits of a trace id that a number holds exactly, and their largest value. */
const RATIO_DIGITS = 13
const RATIO_MOST = 16 ** RATIO_DIGITS

export class Traces {
  readonly #settings: TracingSettings
  readonly #exporter: TraceExporter
  readonly #clock: Clock
  readonly #placeOf: PlaceOf

  constructor(settings: TracingSettings, exporter: TraceExporter, clock: Clock, placeOf: PlaceOf) {
    this.#settings = settings
    this.#exporter = exporter
    this.#clock = clock
    this.#placeOf = placeOf
  }

  readonly contextOf = (headers: IncomingHttpHeaders, requestId: string): TraceContext => {
    const { isHandedOn, isBaggageHandedOn } = this.#settings
    const parent = parentIn(single(headers['traceparent']))
    const isSampled = this.#isSampled(parent, requestId)
    const came = { tracestate: single(headers['tracestate']), baggage: single(headers['baggage']) }
    return new TraceContext(requestId, parent, came, { isSampled, isHandedOn, isBaggageHandedOn })
  }

  requestEnded(record: RequestRecord): void {
    if (record.trace?.context?.isSampled !== true) return
    const now = { nowMs: this.#clock.nowMs(), monotonicMs: this.#clock.monotonicMs() }
    this.#exporter.add(spansOf(record, now, this.#placeOf))
  }

  #isSampled(parent: ParentSpan | undefined, requestId: string): boolean {
    const { ratio, followsParent } = this.#settings
    if (parent !== undefined && followsParent) return parent.isSampled
    // The last digits of an id are random. Every node of a trace decides alike.
    const digits = (parent?.traceId ?? requestId.replaceAll('-', '')).slice(-RATIO_DIGITS)
    return Number.parseInt(digits, 16) < ratio * RATIO_MOST
  }
}

function single(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header.join(',') : header
}
