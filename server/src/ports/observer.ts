import type { Skip } from '#core/fault/skip.ts'
import type { Tags } from '#core/money/labels.ts'
import type { RequestTrace } from '#core/request/request-trace.ts'

/** One call as it ended, for metrics and the log. It holds no texts and no vectors. */
export interface CallRecord {
  readonly requestId: string
  readonly callId: string
  readonly model: string
  readonly deployment: string
  /** `ok`, or the kind of failure. */
  readonly outcome: string
  /** What went wrong, in our own words. */
  readonly reason?: string | undefined
  /** The upstream's error code. */
  readonly code?: string | undefined
  readonly status?: number | undefined
  readonly inputs: number
  readonly durationMs: number
}

/** A count, or a cost, of an upstream above the maximum that Torana expected of the call. */
export interface Overcount {
  readonly requestId: string
  readonly callId: string
  readonly model: string
  readonly deployment: string
  /** Tokens counted above the expected maximum. 0 when only the cost was above. */
  readonly excessTokens: number
  /** Tokens that were not charged, because the upstream can't have meant them. */
  readonly cutTokens: number
  /** The same of the reported cost. Absent when none was reported, or one as expected. */
  readonly excessNanoUsd?: bigint | undefined
  readonly cutNanoUsd?: bigint | undefined
}

/** Whether part of the count or cost was not charged. */
export function isCut({ cutTokens, cutNanoUsd = 0n }: Pick<Overcount, 'cutTokens' | 'cutNanoUsd'>): boolean {
  return cutTokens > 0 || cutNanoUsd > 0n
}

/** A count of an upstream that is implausibly small. The tokens were estimated instead. */
export interface Undercount extends Pick<Overcount, 'requestId' | 'callId' | 'model' | 'deployment'> {
  /** What it counted. */
  readonly reportedTokens: number
}

/** One request as it was answered. */
export interface RequestRecord {
  readonly requestId: string
  readonly route: string
  readonly status: number
  /** The code of the fault, when there was one. */
  readonly fault?: string | undefined
  /** The text that the caller got, without what may repeat the caller's content. */
  readonly faultText?: string | undefined
  /** What made it happen, in words that can't repeat the caller's content. */
  readonly faultCause?: string | undefined
  /** The deployments that a failed request did not try. */
  readonly skips?: readonly Skip[] | undefined
  /** The cause of the fault, for operators; never sent to the caller. */
  readonly cause?: unknown
  /** The caller's own id for the request: logged, never used as a key. */
  readonly clientRequestId?: string | undefined
  /** Client address, as far as trusted proxies report it. */
  readonly clientAddress?: string | undefined
  readonly project?: string | undefined
  readonly key?: string | undefined
  readonly keyId?: string | undefined
  /** The model's id, and only if it exists: a caller can't invent label values. */
  readonly model?: string | undefined
  readonly deployment?: string | undefined
  readonly attempts?: number | undefined
  readonly inputs?: number | undefined
  /** Inputs served without a call, and inputs that needed one. Undefined where nothing is shared. */
  readonly cache?: { readonly hits: number; readonly misses: number } | undefined
  readonly promptTokens?: number | undefined
  /** Images beyond those asked for. They are paid for and kept. */
  readonly extraImages?: number | undefined
  /** Undefined also when the model has no price. */
  readonly amountNanoUsd?: bigint | undefined
  readonly trace?: RequestTrace | undefined
  readonly user?: string | undefined
  readonly tags?: Tags | undefined
  readonly durationMs: number
}

/** Receives what happened. It must not throw and must not block: no caller waits for it. */
export interface Observer {
  callEnded(record: CallRecord): void
  overcounted(record: Overcount): void
  undercounted(record: Undercount): void
  requestEnded(record: RequestRecord): void
}
