/** Composition of traces. */
import { hostname } from 'node:os'
import { type Catalog, type Upstream } from '#core/catalog.ts'
import { TraceExporter } from '#telemetry/traces/exporter.ts'
import type { CalledPlace } from '#telemetry/traces/spans.ts'
import { Traces } from '#telemetry/traces/traces.ts'
import { commit, version, type Basics } from './basics.ts'

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
  const program = { 'service.version': commit === '' ? version : `${version}+${commit}` }
  const resource = { ...program, 'host.name': hostname(), ...tracing.resource }
  const exporter = new TraceExporter(tracing, { resource, scope: { name: 'torana', version } }, log)
  metrics.node.readSpans(() => exporter)
  const placeOf = (model: string, deployment: string): CalledPlace | undefined =>
    placeIn(catalog.current, model, deployment)
  return {
    traces: new Traces(tracing, exporter, clock, placeOf),
    [Symbol.asyncDispose]: () => exporter.close(),
  }
}

function placeIn({ models }: Catalog, model: string, id: string): CalledPlace | undefined {
  const deployment = models.get(model)?.deployments.find((one) => one.id === id)
  if (deployment === undefined) return undefined
  const { upstream, upstreamModel } = deployment
  return { provider: upstream.provider ?? upstream.dialect, model: upstreamModel, ...addressOf(upstream) }
}

function addressOf({ baseUrl }: Upstream): Pick<CalledPlace, 'address' | 'port'> {
  const url = baseUrl === undefined ? null : URL.parse(baseUrl)
  if (url === null) return { address: undefined, port: undefined }
  return { address: url.hostname, port: Number(url.port) || (url.protocol === 'https:' ? 443 : 80) }
}
