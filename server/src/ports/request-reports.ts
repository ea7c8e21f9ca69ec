/** The request log: kinds and sources of requests, the trace that a row keeps, and the live tail. */
import type { Skip } from '#core/fault/skip.ts'
import type { CallTrace, PricedCount, Reservation, Wire } from '#core/request/request-trace.ts'
import type { RequestRecord } from './observer.ts'

export const REQUEST_KINDS = ['embedding', 'generation', 'edit'] as const
export type RequestKind = (typeof REQUEST_KINDS)[number]

const ROUTE_OF_KIND: Readonly<Record<RequestKind, string>> = {
  embedding: 'embeddings',
  generation: 'images',
  edit: 'image-edits',
}

/** Lines of a batch that were run together: a request like others, without a waiting caller. */
export const BATCH_LINES_ROUTE = 'batch-lines'
/** A line of a batch that asks for images. */
export const BATCH_PICTURES_ROUTE = 'batch-images'
export const BATCH_EDITS_ROUTE = 'batch-image-edits'

const BATCH_ROUTES: ReadonlySet<string> = new Set([
  BATCH_LINES_ROUTE,
  BATCH_PICTURES_ROUTE,
  BATCH_EDITS_ROUTE,
])

/** Where requests come from. A caller waits for its own, and no one waits for lines of batches, so the two are counted separately. */
export const REQUEST_SOURCES = ['callers', 'batches'] as const
export type RequestSource = (typeof REQUEST_SOURCES)[number]

export function sourceOf(route: string): RequestSource {
  return BATCH_ROUTES.has(route) ? 'batches' : 'callers'
}

/** Without an entry: a list of models, or a path that does not exist. */
export const KIND_OF_ROUTE: ReadonlyMap<string, RequestKind> = new Map([
  ...REQUEST_KINDS.map((kind) => [ROUTE_OF_KIND[kind], kind] as const),
  [BATCH_LINES_ROUTE, 'embedding'],
  [BATCH_PICTURES_ROUTE, 'generation'],
  [BATCH_EDITS_ROUTE, 'edit'],
])

/** Milliseconds from the first byte of the request. */
export interface Moments {
  readonly authenticated?: number | undefined
  readonly read?: number | undefined
  readonly admitting?: number | undefined
  readonly admitted?: number | undefined
  readonly lookedUp?: number | undefined
  readonly gathered?: number | undefined
  readonly settled?: number | undefined
}

/** A call with its moments counted from the first byte of its request. */
export interface LoggedCall extends Omit<CallTrace, 'startedMs' | 'endedMs' | 'firstByteMs' | 'counts'> {
  readonly startMs: number
  readonly durationMs: number
  readonly firstByteMs: number | undefined
  readonly counts: readonly PricedCount[]
}

/** What the log keeps of the course of a request. */
export interface LoggedTrace {
  readonly moments: Moments
  readonly attempts: readonly LoggedCall[]
  readonly bytesIn: number
  readonly bytesOut: number
  readonly askedModel: string | undefined
  readonly space: string | undefined
  readonly width: number | undefined
  readonly encoding: string | undefined
  readonly usage: 'upstream' | 'estimated' | undefined
  readonly isUnpriced: boolean
  /** The first image. */
  readonly asset: string | undefined
  readonly savedNanoUsd: bigint
  readonly reservation: Reservation | undefined
  readonly emulated: readonly string[]
  readonly dropped: readonly string[]
  readonly wire: Wire | undefined
  /** The error text that the caller got, without what may repeat the caller's content. */
  readonly faultText: string | undefined
  readonly faultCause: string | undefined
  /** The deployments that a failed request did not try. */
  readonly skips: readonly Skip[]
}

/** Requests of this node as they end. */
export interface RequestTail {
  open(): TailReader
}

export interface TailReader {
  /** What ended since the last call, oldest first; beyond a bound only the newest, and how many are left out. */
  take(): { readonly records: readonly RequestRecord[]; readonly skipped: number }
  close(): void
}
