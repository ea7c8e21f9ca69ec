import type { Deployment } from '#core/catalog/catalog.ts'
import type { Usage } from '#core/money/usage.ts'
import type { Input } from '#core/embedding/input.ts'
import type { WholeType } from '#core/catalog/vector-type.ts'
import type { Vector, VectorForm } from '#core/embedding/vector.ts'

/**
 * One HTTP exchange with an upstream, already negotiated: this deployment's capabilities accept everything in it. A dialect
 * sends all of it and nothing else.
 */
export interface EmbeddingCall {
  /** Sent as `x-torana-call-id`, so that the upstream's records can be compared with our ledger. */
  readonly callId: string
  /** The project that it is made for, or one of several. It is never sent. */
  readonly project: string
  readonly deployment: Deployment
  /** All texts, all arrays of token ids, or all contents. */
  readonly inputs: Input
  /** The width to ask for; undefined leaves the upstream at its native width. */
  readonly dimensions: number | undefined
  /** The width every vector of the answer must have: of `outputType`, how many numbers it has. */
  readonly width: number
  /** The type to ask for, whose numbers the answer must have. Undefined: float32. */
  readonly outputType?: WholeType | undefined
  /** The width of an answer whose upstream ignored `dimensions`, if its vectors may be cut. Undefined: they may not. */
  readonly fullWidth?: number | undefined
  /** The upstream's own word for query or document; undefined leaves its field out. */
  readonly inputType: string | undefined
  /** The name of that field, for dialects that carry it by name. */
  readonly inputTypeField: string | undefined
  readonly user: string | undefined
  /** Fields Torana does not know, passed on as they came. Empty for dialects that can't carry them. */
  readonly extraFields: Readonly<Record<string, unknown>>
  /** The cheapest form to hand on. A dialect may answer in any form. */
  readonly wantedForm: VectorForm
  readonly timeoutMs: number
  /** Trace headers of the call, names and values in turn. Undefined: there are none. */
  readonly traceHeaders?: readonly string[] | undefined
}

export interface EmbeddingAnswer {
  /** One vector per input, in input order, each checked: right width, finite, not all zero. Of `outputType`: whole numbers in its range. */
  readonly vectors: readonly Vector[]
  /** All of them have `fullWidth`: the upstream ignored `dimensions`. */
  readonly isFullWidth?: boolean
  readonly usage: Usage
  /** The model that answered, in the upstream's words. Undefined: it does not say. */
  readonly model?: string | undefined
  /** Top-level fields of the answer beyond OpenAI's own, kept for the caller. */
  readonly extraFields: Readonly<Record<string, unknown>>
  /** Arrival of the first byte of the answer, on the clock of `performance.now()`, where the wire shows it. */
  readonly firstByteMs?: number | undefined
  /** The upstream's own id of the call. */
  readonly upstreamRequestId?: string | undefined
}

/**
 * Where vectors come from. Implementations translate to their dialect, make exactly one call, and check the answer
 * before returning it. They never retry: that is the journey's decision. Every failure is an `UpstreamFailure`.
 */
export interface EmbeddingUpstream {
  embed(call: EmbeddingCall): Promise<EmbeddingAnswer>
}
