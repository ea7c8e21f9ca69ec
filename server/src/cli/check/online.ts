/** Whether upstreams answer with their credentials, and have the models that are deployed on them. Costs nothing. */
import { listModels, upstreamsOf, type Catalog, type Upstream } from '#core/catalog/catalog.ts'
import { endWords, isNear, modelEnd } from '#core/catalog/model-end.ts'
import { UpstreamFailure } from '#core/fault/failure.ts'
import type { Settings } from '#core/settings.ts'
import { sharedYield } from '#runtime/event-loop.ts'
import { UpstreamHttp } from '#upstreams/connect/http.ts'
import { HttpModelListing } from '#upstreams/listing/listing.ts'

export interface AskedUpstream {
  readonly upstream: string
  readonly verdict: 'ok' | 'warn' | 'fail'
  readonly says: string
}

export async function askUpstreams({ limits, proxy }: Settings, catalog: Catalog): Promise<AskedUpstream[]> {
  const http = new UpstreamHttp({ ...limits, proxy, yieldOnSending: sharedYield(1) })
  const listing = new HttpModelListing(http)
  try {
    const others = upstreamsOf(catalog).filter(({ dialect }) => dialect !== 'demo')
    return await Promise.all(others.map((upstream) => ask(upstream, catalog, listing)))
  } finally {
    await http.close()
  }
}

async function ask(upstream: Upstream, catalog: Catalog, listing: HttpModelListing): Promise<AskedUpstream> {
  const { name } = upstream
  try {
    const listed = await listing.list(upstream)
    if (listed.kind === 'unlisted')
      return { upstream: name, verdict: 'warn', says: 'it has no list of models, so nothing was asked' }
    const deployed = listModels(catalog).flatMap<{
      readonly upstream: Upstream
      readonly upstreamModel: string
    }>((model) => model.deployments)
    const called = deployed.flatMap((one) => (one.upstream.name === name ? [one.upstreamModel] : []))
    const isDeployed = (model: string): boolean => called.includes(model)
    const missing = called.filter((model) => !listed.ids.includes(model))
    const findings = missing.length > 0 ? [`does not list ${missing.join(', ')}`] : []
    const nowMs = Date.now()
    for (const [model, on] of listed.ends) {
      const end = modelEnd({ on })
      if (isDeployed(model) && isNear(end, nowMs)) findings.push(`${model} ${endWords(end, nowMs)}`)
    }
    const unread = listed.unreadEnds.filter(isDeployed)
    if (unread.length > 0)
      findings.push(`the shutdown_date of ${unread.join(', ')} is neither Unix seconds nor an ISO date`)
    if (findings.length > 0)
      return { upstream: name, verdict: 'warn', says: `answers, and ${findings.join('; ')}` }
    return { upstream: name, verdict: 'ok', says: `answers, and lists ${listed.ids.length} models` }
  } catch (error) {
    if (!(error instanceof UpstreamFailure)) throw error
    return { upstream: name, verdict: 'fail', says: error.reason }
  }
}
