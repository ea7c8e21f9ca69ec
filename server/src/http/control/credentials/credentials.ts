import type { z } from 'zod'
import type { Catalog, Upstream } from '#core/catalog.ts'
import type { CredentialRecord, CredentialStore } from '#ports/credentials.ts'
import { upstreamsOf } from '#core/catalog.ts'
import { addressOf, credentialAddressesOf } from '#core/upstream-address.ts'
import { faultAnswers } from '../../fault-answers.ts'
import { actorIn } from '../access/caller.ts'
import type { Api } from '../wire/route.ts'
import { conflict, notFound } from '../wire/faults.ts'
import { credential, credentialList, newCredential, upstreamPath } from './schemas.ts'
import { timeOf } from '../wire/times.ts'

export interface CredentialDependencies {
  readonly credentials: CredentialStore
  /** What torana.yaml declares, without the credentials that the store adds. */
  readonly catalog: () => Catalog
}

export function registerCredentials(api: Api, { catalog, credentials }: CredentialDependencies): void {
  api.get('/credentials', {
    config: { permission: 'upstreams.read' },
    schema: {
      operationId: 'listCredentials',
      summary: 'The source of the credential of each upstream; never the credential itself',
      response: { 200: credentialList, ...faultAnswers([401, 503]) },
    },
    handler: async () => {
      const stored = new Map((await credentials.list()).map((record) => [record.upstream, record]))
      const upstreams = upstreamsOf(catalog()).filter(({ dialect }) => dialect !== 'demo')
      const data = upstreams.map((upstream) => credentialBody(upstream, stored.get(upstream.name)))
      return { data, has_more: false }
    },
  })

  api.put('/credentials/:upstream', {
    config: { permission: 'upstreams.write' },
    schema: {
      operationId: 'putCredential',
      summary: 'Store the credential of an upstream, for its present base URL; null deletes it',
      params: upstreamPath,
      body: newCredential,
      response: { 200: credential, ...faultAnswers([400, 401, 404, 409, 503]) },
    },
    handler: async (request) => {
      const { secret } = request.body
      const actor = actorIn(request)
      const upstream = upstreamsOf(catalog()).find(({ name }) => name === request.params.upstream)
      if (upstream === undefined || upstream.dialect === 'demo')
        throw notFound(`torana.yaml has no model with a deployment on upstream ${request.params.upstream}.`)
      if (secret === null) return credentialBody(upstream, await credentials.drop(upstream.name, actor))
      if (upstream.apiKey !== undefined)
        throw conflict(
          `Upstream ${upstream.name} has an apiKey in torana.yaml, which takes precedence. Remove it there first.`,
        )
      const baseUrl = addressOf(upstream)
      return credentialBody(
        upstream,
        await credentials.put({ upstream: upstream.name, baseUrl, secret }, actor),
      )
    },
  })
}

function credentialBody(
  upstream: Upstream,
  stored: CredentialRecord | undefined,
): z.output<typeof credential> {
  const baseUrl = addressOf(upstream)
  const isUsable = stored?.hasSecret === true && credentialAddressesOf(upstream).includes(stored.baseUrl)
  return {
    upstream: upstream.name,
    base_url: baseUrl,
    source: upstream.apiKey === undefined ? (isUsable ? 'store' : 'none') : 'configuration',
    stored_for: stored?.hasSecret ? stored.baseUrl : null,
    updated_at: timeOf(stored?.updatedAtMs),
  }
}
