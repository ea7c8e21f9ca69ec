/** Opens traces and what sends them. */
import type { Catalog } from '#core/catalog/catalog.ts'
import { TraceExporter } from '#telemetry/traces/exporter.ts'
import { placeIn } from '#telemetry/traces/place.ts'
import { Traces } from '#telemetry/traces/traces.ts'
import { otlpSenderOf, type Basics } from './basics.ts'

export interface OpenTraces extends AsyncDisposable {
  /** Undefined: there is no receiver. */
  readonly traces: Traces | undefined
}

export function openTraces(
  { settings, clock, log, metrics }: Basics,
  catalog: { readonly current: Catalog },
): OpenTraces {
  const { tracing } = settings
  if (tracing === undefined) return { traces: undefined, async [Symbol.asyncDispose]() {} }
  const exporter = new TraceExporter(tracing, otlpSenderOf(tracing), log)
  metrics.node.readSpans(() => exporter)
  return {
    traces: new Traces(tracing, exporter, clock, (...called) => placeIn(catalog.current, ...called)),
    [Symbol.asyncDispose]: () => exporter.close(),
  }
}
