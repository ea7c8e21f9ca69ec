/** Inputs of requests, kept for a day where a project asks for it, so that a request can be sent again. */
import type { PathModel } from '#core/request/path-model.ts'

/** How long inputs are kept: a failure of the night can be repeated in the morning. */
export const CAPTURED_MS = 86_400_000
/** The same as the header `x-torana-captured` says it. */
export const CAPTURED_TEXT = '24h'
/** Bytes of one request that are kept: the texts of any embeddings request but the very largest, and a few images. */
export const MAX_CAPTURED_BYTES = 4 * 1024 * 1024

/** A request as its caller sent it, as far as another one like it needs that. */
export interface CapturedInput {
  readonly route: string
  readonly path: PathModel | undefined
  readonly headers: Readonly<Record<string, string>>
  /** JSON. An edit that came as a form is written as JSON. */
  readonly body: Uint8Array
}

export interface CapturedRequest {
  readonly requestId: string
  readonly project: string
  readonly hasFailed: boolean
  readonly capturedAtMs: number
  readonly input: CapturedInput
}

/** What is known of a captured request without opening it. */
export interface Captured {
  readonly project: string
  readonly capturedAtMs: number
}

/**
 * Rejects with `StoreUnreachable`. Inputs are sealed, and every project has a share of the room: beyond it, the oldest go first,
 * those of failed requests last.
 */
export interface CaptureStore {
  append(requests: readonly CapturedRequest[]): Promise<void>
  /** Undefined: nothing is kept of the request. */
  find(requestId: string): Promise<Captured | undefined>
  /** Undefined: it is gone, or was sealed with a secret that this node does not have. */
  open(requestId: string): Promise<CapturedInput | undefined>
  /** Deletes what is older than a day, what is of projects that no longer capture, and what exceeds the room. Returns how many. */
  deleteOld(captures: InputCapture['captures']): Promise<number>
}

/** The body of one request, from its arrival until the request has ended. */
export interface HeldInput {
  keep(ended: { readonly requestId: string; readonly hasFailed: boolean }): void
}

/** The inputs that a node holds for the store. */
export interface InputCapture {
  /** Whether requests of the project are captured, as this node knows it now. */
  readonly captures: (project: string) => boolean
  /** Undefined: it is too large, or too many wait. */
  hold(project: string, input: CapturedInput): HeldInput | undefined
}
