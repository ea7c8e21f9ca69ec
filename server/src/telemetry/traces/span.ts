export type AttributeValue = string | number | readonly string[] | undefined

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
  /** Undefined attributes are omitted. */
  readonly attributes: Readonly<Record<string, AttributeValue>>
  readonly isError: boolean
}
