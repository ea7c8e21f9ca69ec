/** A fault: an error as callers see it. `table.ts` lists them all. The cause goes to the log only. */
import type { FailureDetail } from './failure.ts'
import type { FaultEntry } from './entry.ts'
import { FAULTS } from './table.ts'
import type { RateState } from '../limits/limit.ts'
import { skipWords, type Skip } from './skip.ts'

export type FaultCode = keyof typeof FAULTS

export interface FaultOptions {
  readonly param?: string | undefined
  readonly retryAfterMs?: number | undefined
  readonly upstream?: FailureDetail | undefined
  /** The state of the rate limits, for the headers. */
  readonly rates?: readonly RateState[] | undefined
  /** The image job that ended with it. */
  readonly jobId?: string | undefined
  /** The methods of the path. */
  readonly allow?: readonly string[] | undefined
  /** The same request would fail in the same way, although its code may mean an accident. */
  readonly isLasting?: boolean | undefined
  /** The deployments that were not tried. */
  readonly skips?: readonly Skip[] | undefined
  readonly cause?: unknown
}

/** An upstream's own words may end without a stop. */
const ENDED = /[.!?…]$/

export class Fault extends Error {
  readonly code: FaultCode
  readonly param: string | undefined
  readonly retryAfterMs: number | undefined
  readonly upstream: FailureDetail | undefined
  readonly rates: readonly RateState[]
  readonly jobId: string | undefined
  readonly allow: readonly string[] | undefined
  readonly isLasting: boolean
  readonly skips: readonly Skip[]

  constructor(code: FaultCode, message: string, options: FaultOptions = {}) {
    super(message, { cause: options.cause })
    this.name = 'Fault'
    this.code = code
    this.param = options.param
    this.retryAfterMs = options.retryAfterMs
    this.upstream = options.upstream
    this.rates = options.rates ?? []
    this.jobId = options.jobId
    this.allow = options.allow
    this.isLasting = options.isLasting ?? false
    this.skips = options.skips ?? []
  }

  /** The same fault, which names the deployments that were not tried. A model's only deployment needs no name. */
  naming(skips: readonly Skip[]): Fault {
    const isOnly = this.upstream === undefined && skips.length < 2
    const words =
      isOnly || skips.length === 0 ? '' : `${ENDED.test(this.message) ? '' : '.'} ${skipWords(skips)}`
    const { param, retryAfterMs, upstream, rates, jobId, allow, isLasting, cause } = this
    const options = { param, retryAfterMs, upstream, rates, jobId, allow, isLasting, cause, skips }
    return new Fault(this.code, this.message + words, options)
  }

  get entry(): FaultEntry {
    return FAULTS[this.code]
  }

  /** Whether the same request may succeed later. */
  get mayRetry(): boolean {
    return this.entry.retry && !this.isLasting
  }
}
