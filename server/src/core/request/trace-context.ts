/**
 * The position of a request in a distributed trace (W3C Trace Context). All ids follow from those of the request and its
 * calls, so nothing has to be recorded on the way: the trace of a request that came without one has the id of the request.
 */

/** W3C: a longer state need not be passed on. */
const MAX_STATE_CHARACTERS = 512
const MAX_BAGGAGE_CHARACTERS = 8192
const TRACEPARENT = /^([\da-f]{2})-([\da-f]{32})-([\da-f]{16})-([\da-f]{2})(-.*)?$/
const PRINTABLE = /^[\x20-\x7e]+$/

/** The trace headers of a request. */
export interface IncomingTrace {
  readonly traceparent: string | undefined
  readonly tracestate: string | undefined
  readonly baggage: string | undefined
}

export interface ParentSpan {
  readonly traceId: string
  readonly spanId: string
  readonly isSampled: boolean
}

/** Undefined when there is none, or an unreadable one. Then the request begins a new trace. */
export function parentIn(traceparent: string | undefined): ParentSpan | undefined {
  const [, version, traceId, spanId, flags, rest] = TRACEPARENT.exec(traceparent ?? '') ?? []
  if (version === undefined || traceId === undefined || spanId === undefined) return undefined
  if (version === 'ff' || (version === '00' && rest !== undefined)) return undefined
  if (/^0+$/.test(traceId) || /^0+$/.test(spanId)) return undefined
  return { traceId, spanId, isSampled: (Number.parseInt(flags as string, 16) & 1) === 1 }
}

export class TraceContext {
  readonly traceId: string
  /** The caller's span. Undefined: the trace begins with this request. */
  readonly parentSpanId: string | undefined
  /** The span of the request itself. */
  readonly spanId: string
  readonly isSampled: boolean
  readonly state: string | undefined
  readonly #baggage: string | undefined
  readonly #isHandedOn: boolean

  constructor(
    requestId: string,
    parent: ParentSpan | undefined,
    { tracestate, baggage }: Pick<IncomingTrace, 'tracestate' | 'baggage'>,
    {
      isSampled,
      isHandedOn,
      isBaggageHandedOn,
    }: { readonly isSampled: boolean; readonly isHandedOn: boolean; readonly isBaggageHandedOn: boolean },
  ) {
    this.traceId = parent?.traceId ?? requestId.replaceAll('-', '')
    this.parentSpanId = parent?.spanId
    this.spanId = spanIdIn(requestId)
    this.isSampled = isSampled
    this.state = parent && within(tracestate, MAX_STATE_CHARACTERS)
    this.#baggage = isBaggageHandedOn ? within(baggage, MAX_BAGGAGE_CHARACTERS) : undefined
    this.#isHandedOn = isHandedOn
  }

  /** Requests that share a call each have a span of it, and two of them may be in one trace. */
  spanIdOf(callId: string): string {
    const [call, own] = [spanIdIn(callId), this.spanId]
    const half = (start: number): string =>
      (
        (Number.parseInt(call.slice(start, start + 8), 16) ^
          Number.parseInt(own.slice(start, start + 8), 16)) >>>
        0
      )
        .toString(16)
        .padStart(8, '0')
    return half(0) + half(8)
  }

  /** Names and values in turn. */
  headersFor(callId: string): readonly string[] | undefined {
    const headers: string[] = []
    if (this.#isHandedOn) {
      headers.push('traceparent', `00-${this.traceId}-${this.spanIdOf(callId)}-0${this.isSampled ? 1 : 0}`)
      if (this.state !== undefined) headers.push('tracestate', this.state)
    }
    if (this.#baggage !== undefined) headers.push('baggage', this.#baggage)
    return headers.length === 0 ? undefined : headers
  }
}

function within(text: string | undefined, maxCharacters: number): string | undefined {
  return text !== undefined && text.length <= maxCharacters && PRINTABLE.test(text) ? text : undefined
}

/** The second half of an id: random but for two bits, which are never both 0. */
function spanIdIn(id: string): string {
  return id.slice(-17).replace('-', '')
}
