/** Opens traces and what sends them. */
import { hostname } from 'node:os'
import type { Catalog } from '#core/catalog/catalog.ts'
import { TraceExporter } from '#telemetry/traces/exporter.ts'
import { placeIn } from '#telemetry/traces/place.ts'
import { Traces } from '#telemetry/traces/traces.ts'
import { commit, version, type Basics } from './basics.ts'

/** Without traces if there is no receiver. */
export function openTraces(
  { settings, clock, log, metrics }: Basics,
  catalog: { readonly current: Catalog },
) {
  const { tracing } = settings
  if (tracing === undefined) return { traces: undefined, async [Symbol.asyncDispose]() {} }
  const program = { 'service.version': commit === '' ? version : `${version}+${commit}` }
  const resource = { ...program, 'host.name': hostname(), ...tracing.resource }
  const exporter = new TraceExporter(tracing, { resource, scope: { name: 'torana', version } }, log)
  metrics.node.readSpans(() => exporter)
  return {
    traces: new Traces(tracing, exporter, clock, (...called) => placeIn(catalog.current, ...called)),
    [Symbol.asyncDispose]: () => exporter.close(),
  }
}
