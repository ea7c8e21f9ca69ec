/** Credentials of upstreams: where each comes from, and the stored ones; never a credential itself. */
import { z } from 'zod'
import { upstreamsOf, type Upstream } from '#core/catalog/catalog.ts'
import { addressOf } from '#core/catalog/upstream-address.ts'
import type { CredentialRecord } from '#ports/credentials.ts'
import { actorIn } from '../shared/caller.ts'
import { conflict, notFound } from '../shared/faults.ts'
import { listOf, storable, time } from '../shared/fields.ts'
import type { ControlNode } from '../shared/node.ts'
import { route, type Api } from '../shared/route.ts'
import { timeOf } from '../shared/times.ts'

const credential = z
  .object({
    upstream: z.string(),
    base_url: z.string().describe('Where calls go; the secret is sent nowhere else.'),
    source: z.enum(['configuration', 'store', 'none']).describe('Where the credential in use comes from.'),
    stored_for: z.string().nullable().describe('The base URL that a stored secret was given for.'),
    updated_at: time.nullable(),
  })
  .meta({ id: 'Credential' })

const newCredential = z
  .strictObject({ secret: z.string().min(1).max(100_000).nullable().describe('null: delete it.') })
  .meta({ id: 'NewCredential', examples: [{ secret: 'sk-…' }] })

export function registerCredentials(
  api: Api,
  { declaredCatalog, credentials }: Pick<ControlNode, 'declaredCatalog' | 'credentials'>,
): void {
  /** Also those that no model uses yet. */
  const upstreams = (): readonly Upstream[] => {
    const catalog = declaredCatalog()
    const all = [...(catalog.upstreams?.values() ?? [])].map(({ upstream }) => upstream)
    const byName = new Map([...upstreamsOf(catalog), ...all].map((one) => [one.name, one]))
    return [...byName.values()].filter(({ dialect }) => dialect !== 'demo')
  }

  route(api, 'GET /credentials', {
    permission: 'upstreams.read',
    id: 'listCredentials',
    summary: 'The source of the credential of each upstream; never the credential itself',
    answer: listOf(credential).meta({ id: 'CredentialList' }),
    handler: async () => {
      const stored = new Map((await credentials.list()).map((record) => [record.upstream, record]))
      const data = upstreams().map((upstream) => credentialBody(upstream, stored.get(upstream.name)))
      return { data, has_more: false }
    },
  })

  route(api, 'PUT /credentials/:upstream', {
    permission: 'upstreams.write',
    id: 'putCredential',
    summary: 'Store the credential of an upstream, for its present base URL; null deletes it',
    params: z.object({ upstream: storable(200).min(1) }),
    body: newCredential,
    answer: credential,
    faults: [409],
    handler: async (request) => {
      const { secret } = request.body
      const { upstream: name } = request.params
      const actor = actorIn(request)
      const upstream = upstreams().find((one) => one.name === name)
      if (upstream === undefined)
        throw notFound(`There is no upstream ${name}. Add it first, here or in torana.yaml.`)
      if (secret === null) return credentialBody(upstream, await credentials.drop(name, actor))
      if (upstream.apiKey !== undefined)
        throw conflict(
          `Upstream ${name} has an apiKey in torana.yaml, which takes precedence. Remove it there first.`,
        )
      const given = { upstream: name, baseUrl: addressOf(upstream), secret }
      return credentialBody(upstream, await credentials.put(given, actor))
    },
  })
}

function credentialBody(
  upstream: Upstream,
  stored: CredentialRecord | undefined,
): z.output<typeof credential> {
  const isUsable = stored?.hasSecret === true && addressOf(upstream) === stored.baseUrl
  return {
    upstream: upstream.name,
    base_url: addressOf(upstream),
    source: upstream.apiKey === undefined ? (isUsable ? 'store' : 'none') : 'configuration',
    stored_for: stored?.hasSecret ? stored.baseUrl : null,
    updated_at: timeOf(stored?.updatedAtMs),
  }
}
