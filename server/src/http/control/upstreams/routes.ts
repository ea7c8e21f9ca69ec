/** Routes that connect upstreams while nodes run: check one, keep it, and keep it apart from what torana.yaml declares. */
import { type Catalog } from '#core/catalog.ts'
import { credentialAddressesOf } from '#core/upstream-address.ts'
import type { CredentialStore } from '#ports/credentials.ts'
import type { StoredUpstreams } from '#ports/stored-upstreams.ts'
import type { UpstreamOffers } from '#ports/upstream-offers.ts'
import { faultAnswers } from '../../fault-answers.ts'
import type { Api } from '../wire/route.ts'
import { checkedBody, providerBody, upstreamBody } from './bodies.ts'
import { builtUpstream, declaredEntry, entryOf, upstreamIn } from './entries.ts'
import { checked, providerList, upstreamList, upstreamQuestion } from './schemas.ts'

export interface UpstreamsDependencies {
  /** What torana.yaml and the store declare, without credentials of the store. */
  readonly catalog: () => Catalog
  readonly upstreams: StoredUpstreams
  readonly credentials: CredentialStore
  readonly offers: UpstreamOffers
  /** Resolves when the change is in force on this node. */
  readonly inForce: () => Promise<void>
}

export function registerUpstreams(api: Api, dependencies: UpstreamsDependencies): void {
  const { catalog, upstreams, credentials, offers } = dependencies

  api.get('/providers', {
    config: { permission: 'upstreams.read' },
    schema: {
      operationId: 'listProviders',
      summary: 'The providers and server families that Torana has built-in facts about',
      response: { 200: providerList, ...faultAnswers([401, 403]) },
    },
    handler: async () => ({ data: offers.providers().map(providerBody), has_more: false }),
  })

  api.get('/upstreams', {
    config: { permission: 'upstreams.read' },
    schema: {
      operationId: 'listUpstreams',
      summary: 'All upstreams, of torana.yaml and of the store',
      response: { 200: upstreamList, ...faultAnswers([401, 403, 503]) },
    },
    handler: async () => {
      const stored = new Map((await credentials.list()).map((record) => [record.upstream, record]))
      const known = [...(catalog().upstreams ?? new Map())]
      return {
        data: known.map(([name, one]) => upstreamBody(one, stored.get(name), catalog())),
        has_more: false,
      }
    },
  })

  api.post('/upstreams/check', {
    config: { permission: 'upstreams.write' },
    schema: {
      operationId: 'checkUpstream',
      summary: 'Ask an upstream for its models, with their list prices. Nothing is kept',
      body: upstreamQuestion,
      response: { 200: checked, ...faultAnswers([400, 401, 403, 404, 503]) },
    },
    handler: async ({ body }) => {
      const { upstream: name, secret, ...given } = body
      if (name === undefined) {
        const built = builtUpstream(offers, 'check', entryOf(given))
        return checkedBody(await offers.check('check', entryOf(given), secret), built, catalog())
      }
      const known = upstreamIn(catalog(), name)
      const entry =
        (await upstreams.read()).upstreams.find((one) => one.name === name)?.entry ?? declaredEntry(known)
      const own = known.apiKey ?? (await credentials.open(name, credentialAddressesOf(known)))
      return checkedBody(await offers.check(name, entry, secret ?? own), known, catalog())
    },
  })
}
