import { listModels, upstreamsOf, type Catalog, type Model } from './catalog.ts'
import { lastEnd, modelEnd } from './model-end.ts'

/** What an upstream's list of models said last. */
export interface UpstreamListing {
  readonly upstream: string
  /** The address that was asked: at another one, the days do not hold. */
  readonly address: string
  /** ISO 8601 in UTC, by the clock of the node that asked. */
  readonly readAt: string
  /** The day of each model that has one, by the upstream's name of the model. */
  readonly ends: Readonly<Record<string, string>>
}

/** Each upstream that a model runs on, with the address by which its list is known. */
export function listedAddresses(catalog: Catalog): ReadonlyMap<string, string> {
  return new Map(upstreamsOf(catalog).map(({ name, baseUrl = '' }) => [name, baseUrl]))
}

/** The catalog with the days that upstreams list, where they are not later than the known ones. */
export function withListedEnds(catalog: Catalog, listings: readonly UpstreamListing[]): Catalog {
  const addresses = listedAddresses(catalog)
  const current = listings.filter(
    ({ upstream, address, ends }) => addresses.get(upstream) === address && Object.keys(ends).length > 0,
  )
  if (current.length === 0) return catalog
  const byUpstream = new Map(current.map((listing) => [listing.upstream, listing]))
  const ended = <Deployment extends Model['deployments'][number]>(one: Deployment): Deployment => {
    const listing = byUpstream.get(one.upstream.name)
    const on = listing?.ends[one.upstreamModel]
    if (listing === undefined || on === undefined || one.hasNoEnd === true) return one
    const { end: known } = one
    if (known !== undefined && known.on < on) return one
    const fields = {
      on,
      successor: known?.successor,
      source: `the model list of ${listing.upstream}`,
      asOf: listing.readAt.slice(0, 10),
      note: known?.on === on ? known.note : undefined,
    }
    return { ...one, end: modelEnd(fields, 'upstream') }
  }
  const models = new Map(
    listModels(catalog).map((model): [Model, Model] => [
      model,
      model.kind === 'embedding'
        ? withLastEnd({ ...model, deployments: model.deployments.map(ended) })
        : withLastEnd({ ...model, deployments: model.deployments.map(ended) }),
    ]),
  )
  const byName = [...catalog.models].map(([name, model]) => [name, models.get(model) ?? model] as const)
  return { ...catalog, models: new Map(byName) }
}

function withLastEnd<OneModel extends Model>(model: OneModel): OneModel {
  return { ...model, end: lastEnd(model.deployments) }
}
