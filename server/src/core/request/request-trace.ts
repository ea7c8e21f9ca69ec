/**
 * The course of one request, recorded for the request log. The request path records only numbers; everything that follows
 * from them is computed when the record is written.
 */

import type { TraceContext } from './trace-context.ts'

/** A count of one kind, and its price at that moment. */
export interface PricedCount {
  readonly of:
    | 'tokens'
    | 'text_input'
    | 'cached_text_input'
    | 'image_input'
    | 'cached_image_input'
    | 'text_output'
    | 'image_output'
    | 'svg_input'
    | 'svg_output'
    | 'images'
    | 'given_images'
    | 'megapixels'
    | 'given_megapixels'
    | 'audio_input'
    | 'video_input'
    | 'file_input'
    | 'characters'
    | 'audio_seconds'
    | 'video_seconds'
    | 'pages'
  readonly count: number
  /** Undefined: the price is not known. */
  readonly nanoUsd: bigint | undefined
  /** The number of units that cost `nanoUsd`. */
  readonly per: 1 | 1_000_000
}

/** One call, as seen by one of the requests that share it. Moments are milliseconds of the monotonic clock. */
export interface CallTrace {
  /** As in the ledger. */
  readonly attempt: number
  readonly callId: string
  readonly deployment: string
  /** The index of its share of a split request, from 0, and the number of its inputs. */
  readonly part: number
  readonly inputs: number
  readonly startedMs: number
  readonly endedMs: number
  /** Time in the queue before it started. */
  readonly waitedMs: number
  /** When the upstream began to answer. Undefined when it did not, or its wire does not show it. */
  readonly firstByteMs: number | undefined
  /** `ok`, or the kind of failure. */
  readonly outcome: string
  readonly status: number | undefined
  /** What went wrong, in our own words. */
  readonly reason: string | undefined
  readonly retryAfterMs: number | undefined
  readonly upstreamRequestId: string | undefined
  /** The attempt that it replaced. */
  readonly insteadOf: number | undefined
  /** Other requests in the same call. */
  readonly sharedWith: number
  readonly counts: readonly PricedCount[]
}

/** Amounts that hard budgets reserved for a request before it ran. */
export interface Reservation {
  readonly nanoUsd: bigint
  /** Ids of the budgets. */
  readonly from: readonly string[]
}

/** A field of the request that differs in the call. */
export interface WireDifference {
  readonly field: string
  readonly how: 'emulated' | 'dropped' | 'translated' | 'absorbed'
  readonly note: string
}

/** The fields of a request beside those of the call. Never inputs, prompts or images. */
export interface Wire {
  readonly in: Readonly<Record<string, unknown>>
  readonly out: Readonly<Record<string, unknown>>
  readonly differences: readonly WireDifference[]
}

/** Moments are milliseconds of the monotonic clock. Undefined: the request did not get that far. */
export class RequestTrace {
  readonly startedMs: number
  /** Its key was recognised. */
  authenticatedMs: number | undefined = undefined
  /** Its body had arrived and was parsed. */
  readMs: number | undefined = undefined
  /** The deployments that can serve it were in order, and its admission began. */
  admittingMs: number | undefined = undefined
  admittedMs: number | undefined = undefined
  /** The cache had answered. */
  lookedUpMs: number | undefined = undefined
  /** All results had arrived. */
  gatheredMs: number | undefined = undefined
  /** All calls were in the ledger. */
  settledMs: number | undefined = undefined
  bytesIn = 0
  bytesOut = 0
  askedModel: string | undefined = undefined
  space: string | undefined = undefined
  /** The request named the space that it wants: in another one it would not have been answered. */
  isPinned = false
  /** Width of the vectors. */
  width: number | undefined = undefined
  encoding: string | undefined = undefined
  usage: 'upstream' | 'estimated' | undefined = undefined
  isUnpriced = false
  images: number | undefined = undefined
  /** The first image. */
  asset: string | undefined = undefined
  /** The cost that the inputs without a call would have had. */
  savedNanoUsd: bigint | undefined = undefined
  reservation: Reservation | undefined = undefined
  emulated: readonly string[] = NONE
  dropped: readonly string[] = NONE
  /** Set only for requests whose call differed. */
  wire: Wire | undefined = undefined
  readonly calls: CallTrace[] = []
  /** Undefined: traces are off. */
  context: TraceContext | undefined = undefined

  constructor(startedMs: number) {
    this.startedMs = startedMs
  }
}

const NONE: readonly string[] = []

interface Span {
  readonly fromMs: number
  readonly toMs: number
}

/** Of `durationMs`, Torana's own work and the time in queues. The rest is the upstreams' time. */
export function ownTime(
  { startedMs, calls }: Pick<RequestTrace, 'startedMs' | 'calls'>,
  durationMs: number,
): { readonly ownMs: number; readonly waitedMs: number } {
  const [first] = calls
  if (first === undefined) return { ownMs: durationMs, waitedMs: 0 }
  const endMs = startedMs + durationMs
  const within = (ms: number): number => Math.min(Math.max(ms, startedMs), endMs)
  // A single call, as nearly every request makes, needs no list of spans.
  if (calls.length === 1) {
    const doneMs = within(first.endedMs)
    const calledMs = doneMs - within(first.startedMs)
    const bothMs = doneMs - within(first.startedMs - first.waitedMs)
    return { ownMs: Math.max(0, durationMs - bothMs), waitedMs: Math.max(0, bothMs - calledMs) }
  }
  const called = covered(
    calls.map((call) => ({ fromMs: within(call.startedMs), toMs: within(call.endedMs) })),
  )
  const both = calls.every(({ waitedMs }) => waitedMs === 0)
    ? called
    : covered(
        calls.map((call) => ({ fromMs: within(call.startedMs - call.waitedMs), toMs: within(call.endedMs) })),
      )
  return { ownMs: Math.max(0, durationMs - both), waitedMs: Math.max(0, both - called) }
}

/** The time in which at least one of the spans lasted. */
function covered(spans: readonly Span[]): number {
  let sum = 0
  let coveredToMs = Number.NEGATIVE_INFINITY
  for (const { fromMs, toMs } of spans.length === 1 ? spans : spans.toSorted((a, b) => a.fromMs - b.fromMs)) {
    if (toMs <= coveredToMs) continue
    sum += toMs - Math.max(fromMs, coveredToMs)
    coveredToMs = toMs
  }
  return sum
}

/** The deployments that served the request; for a failed one, those that were tried. Empty: none was. */
export function deploymentsOf(served: string | undefined, calls: readonly CallTrace[]): readonly string[] {
  const known = served === undefined || served === '' ? [] : served.split(',')
  return calls.length === 0 ? known : [...new Set([...calls.map(({ deployment }) => deployment), ...known])]
}
