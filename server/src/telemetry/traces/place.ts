import type { Catalog, Upstream } from '#core/catalog/catalog.ts'
import type { CalledPlace } from './spans.ts'

/** What a catalog knows of a deployment that was called. Undefined: it has no such deployment any more. */
export function placeIn({ models }: Catalog, model: string, id: string): CalledPlace | undefined {
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
