import type { Attributes } from './otlp-message.ts'

/** Times are Unix milliseconds; ids are hexadecimal. */
export interface Span {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId: string | undefined
  readonly traceState: string | undefined
  readonly name: string
  readonly kind: 'internal' | 'server' | 'client'
  readonly startMs: number
  readonly endMs: number
  readonly attributes: Attributes
  readonly isError: boolean
}
