/** What the request log tells people: rows, counts over time, and one request with its calls and its money. */
import type { EntryKind, EntryRemarks, UsageSource } from '#core/ledger.ts'
import type { Labels, Tags } from '#core/labels.ts'
import type { Outcome } from '#core/request-outcome.ts'
import type { CallTrace, PricedCount, Reservation, Wire } from '#core/request-trace.ts'

export const REQUEST_KINDS = ['embedding', 'generation', 'edit'] as const
export type RequestKind = (typeof REQUEST_KINDS)[number]

const ROUTE_OF_KIND: Readonly<Record<RequestKind, string>> = {
  embedding: 'embeddings',
  generation: 'images',
  edit: 'image-edits',
}

/** Lines of a batch that were run together: a request like others, which nobody waits for. */
export const BATCH_LINES_ROUTE = 'batch-lines'
/** A line of a batch that asks for pictures. */
export const BATCH_PICTURES_ROUTE = 'batch-images'
export const BATCH_EDITS_ROUTE = 'batch-image-edits'

const BATCH_ROUTES: ReadonlySet<string> = new Set([
  BATCH_LINES_ROUTE,
  BATCH_PICTURES_ROUTE,
  BATCH_EDITS_ROUTE,
])

/** Where requests come from: somebody waits for those of callers, and nobody for lines of batches. They are counted apart. */
export const REQUEST_SOURCES = ['callers', 'batches'] as const
export type RequestSource = (typeof REQUEST_SOURCES)[number]

export function sourceOf(route: string): RequestSource {
  return BATCH_ROUTES.has(route) ? 'batches' : 'callers'
}

/** Undefined: a question for models, or what is no request. */
export const KIND_OF_ROUTE: ReadonlyMap<string, RequestKind> = new Map([
  ...REQUEST_KINDS.map((kind) => [ROUTE_OF_KIND[kind], kind] as const),
  [BATCH_LINES_ROUTE, 'embedding'],
  [BATCH_PICTURES_ROUTE, 'generation'],
  [BATCH_EDITS_ROUTE, 'edit'],
])

export interface LoggedRequest {
  readonly id: string
  readonly atMs: number
  readonly kind: RequestKind
  readonly source: RequestSource
  readonly status: number
  readonly fault: string | undefined
  readonly outcome: Outcome
  readonly project: string | undefined
  readonly key: string | undefined
  readonly model: string | undefined
  readonly deployments: readonly string[]
  readonly calls: number
  readonly inputs: number | undefined
  readonly hits: number | undefined
  readonly tokens: number | undefined
  readonly images: number | undefined
  readonly costNanoUsd: bigint | undefined
  readonly isUnpriced: boolean
  readonly usage: UsageSource | undefined
  readonly durationMs: number
  readonly ownMs: number
  readonly waitedMs: number
  readonly node: string
  readonly asset: string | undefined
  /** The caller's own id. */
  readonly clientRequestId: string | undefined
  /** What the caller says the request is for. */
  readonly labels: Labels | undefined
}

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

/** One row of the ledger. */
export interface BookedCall {
  readonly attempt: number
  readonly callId: string
  readonly kind: EntryKind
  readonly deployment: string
  readonly model: string
  readonly usage: UsageSource
  readonly tokens: number | undefined
  readonly images: number
  readonly amountNanoUsd: bigint | undefined
  readonly remarks: EntryRemarks | undefined
  readonly atMs: number
}

export interface RequestDetail extends LoggedRequest {
  readonly route: string
  readonly askedModel: string | undefined
  readonly space: string | undefined
  readonly width: number | undefined
  readonly encoding: string | undefined
  readonly emulated: readonly string[]
  readonly dropped: readonly string[]
  readonly bytesIn: number
  readonly bytesOut: number
  readonly moments: Moments
  readonly attempts: readonly LoggedCall[]
  readonly reservation: Reservation | undefined
  readonly savedNanoUsd: bigint
  readonly wire: Wire | undefined
  readonly booked: readonly BookedCall[]
}

/** What the ledger still tells of a request whose log was deleted. */
export interface ForgottenRequest {
  readonly id: string
  readonly project: string
  readonly key: string
  readonly model: string
  readonly booked: readonly BookedCall[]
}

export interface RequestFilter {
  readonly fromMs: number
  readonly toMs: number
  /** Undefined: all. */
  readonly projects?: readonly string[] | undefined
  readonly keys?: readonly string[] | undefined
  readonly models?: readonly string[] | undefined
  readonly deployment?: string | undefined
  readonly kinds?: readonly RequestKind[] | undefined
  readonly source?: RequestSource | undefined
  readonly outcomes?: readonly Outcome[] | undefined
  readonly status?: number | undefined
  readonly faults?: readonly string[] | undefined
  readonly slowerMs?: number | undefined
  readonly dearerNanoUsd?: bigint | undefined
  /** At least so many calls. */
  readonly tries?: number | undefined
  /** The caller's own id. */
  readonly client?: string | undefined
  readonly user?: string | undefined
  /** All of them. */
  readonly tags?: Tags | undefined
}

export interface RequestPage {
  readonly sort: '-at' | '-duration' | '-cost'
  readonly limit: number
  /** From the page before. */
  readonly after?: string | undefined
}

export interface RequestRows {
  readonly rows: readonly LoggedRequest[]
  /** What the next page is asked for with. Undefined: there is none. */
  readonly next: string | undefined
}

/** A tag is `<key>:<value>`. */
export type FacetName = 'outcome' | 'kind' | 'model' | 'key' | 'fault' | 'user' | 'tag'

export interface RequestHistogram {
  readonly slotMs: number
  readonly total: number
  readonly slots: readonly { readonly atMs: number; readonly counts: Readonly<Record<Outcome, number>> }[]
  readonly facets: Readonly<Record<FacetName, Readonly<Record<string, number>>>> | undefined
  /** Only requests from here on were counted, because there are too many. Undefined: all were. */
  readonly cappedAtMs: number | undefined
}

/** Asks over connections of its own, never those of the request path. Trouble with the store rejects with `StoreAway`. */
export interface RequestReports {
  /** Rejects with `UnreadableCursor`. */
  list(filter: RequestFilter, page: RequestPage): Promise<RequestRows>
  histogram(
    filter: RequestFilter,
    options: { readonly slots: number; readonly facets: boolean },
  ): Promise<RequestHistogram>
  /** Undefined: neither the log nor the ledger knows it. */
  find(id: string): Promise<RequestDetail | ForgottenRequest | undefined>
}

/** Requests of this node as they end. */
export interface RequestTail {
  open(): TailReader
}

export interface TailReader {
  /** What ended since the last time, oldest first; of very many the newest, and how many are left out. */
  take(): { readonly rows: readonly LoggedRequest[]; readonly skipped: number }
  close(): void
}

/** A cursor that no page handed out. */
export class UnreadableCursor extends Error {
  override readonly name = 'UnreadableCursor'
}
