/** Spans as messages of OTLP. */
import { OtlpWriter, writeAttributes } from './otlp-message.ts'
import type { Span } from './span.ts'

const KINDS = { internal: 1, server: 2, client: 3 } as const
const STATUS_ERROR = 2
const SAMPLED = 1

/** Spans as the field `spans` of `ScopeSpans`: such encoded parts may simply be concatenated. */
export function encodeSpans(spans: readonly Span[]): Buffer {
  const writer = new OtlpWriter()
  for (const span of spans) writer.message(2, () => writeSpan(writer, span))
  return writer.written()
}

function writeSpan(writer: OtlpWriter, span: Span): void {
  writer.hex(1, span.traceId)
  writer.hex(2, span.spanId)
  if (span.traceState !== undefined) writer.text(3, span.traceState)
  if (span.parentSpanId !== undefined) writer.hex(4, span.parentSpanId)
  writer.text(5, span.name)
  writer.whole(6, KINDS[span.kind])
  writer.nanoseconds(7, span.startMs)
  writer.nanoseconds(8, span.endMs)
  writeAttributes(writer, 9, span.attributes)
  if (span.isError) writer.message(15, () => writer.whole(3, STATUS_ERROR))
  writer.fixed32(16, SAMPLED)
}
