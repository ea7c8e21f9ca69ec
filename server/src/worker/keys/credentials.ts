/** The upstreams of a catalog, and the credentials that the store keeps for them. */
import { listModels, upstreamsOf, type Catalog, type Model, type Upstream } from '#core/catalog/catalog.ts'
import { addressOf } from '#core/catalog/upstream-address.ts'
import { CredentialLost, type CredentialStore } from '#ports/credentials.ts'
import { StoreUnreachable } from '#ports/store.ts'

export interface CredentialedCatalog {
  readonly catalog: Catalog
  /** Upstreams whose stored credential may exist but can't be read now, and why. */
  readonly problems: readonly string[]
}

/** Gives upstreams without an `apiKey` the credential stored for their address, if there is one. */
export async function withCredentials(
  catalog: Catalog,
  credentials: Pick<CredentialStore, 'open'>,
): Promise<CredentialedCatalog> {
  const problems: string[] = []
  const given = new Map<string, Upstream>()
  for (const upstream of upstreamsOf(catalog)) {
    if (upstream.apiKey !== undefined) continue
    try {
      const apiKey = await credentials.open(upstream.name, addressOf(upstream))
      if (apiKey !== undefined) given.set(upstream.name, { ...upstream, apiKey })
    } catch (error) {
      if (!(error instanceof CredentialLost || error instanceof StoreUnreachable)) throw error
      problems.push(`the stored credential of upstream ${upstream.name} can't be had: ${error.message}`)
    }
  }
  if (given.size === 0) return { catalog, problems }
  const models = new Map(listModels(catalog).map((model) => [model, withUpstreams(model, given)]))
  const byName = [...catalog.models].map(([name, model]) => [name, models.get(model) ?? model] as const)
  return { catalog: { ...catalog, models: new Map(byName) }, problems }
}

/** While the store is unreachable, its last answer holds: a reload must not remove credentials. */
export function lastKnown(credentials: Pick<CredentialStore, 'open'>): Pick<CredentialStore, 'open'> {
  const known = new Map<string, string | undefined>()
  return {
    async open(upstream, address) {
      const name = JSON.stringify([upstream, address])
      try {
        const secret = await credentials.open(upstream, address)
        known.set(name, secret)
        return secret
      } catch (error) {
        if (!(error instanceof StoreUnreachable) || !known.has(name)) throw error
        return known.get(name)
      }
    },
  }
}

function withUpstreams(model: Model, given: ReadonlyMap<string, Upstream>): Model {
  const own = <Deployment extends { readonly upstream: Upstream }>(deployment: Deployment): Deployment => {
    const { apiKey } = given.get(deployment.upstream.name) ?? {}
    // Only the credential: vectors and images of one upstream may use different dialects.
    return apiKey === undefined ? deployment : { ...deployment, upstream: { ...deployment.upstream, apiKey } }
  }
  return model.kind === 'embedding'
    ? { ...model, deployments: model.deployments.map(own) }
    : { ...model, deployments: model.deployments.map(own) }
}
