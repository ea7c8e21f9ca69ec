/** Upstreams of torana.yaml and of the store: listed, connected, changed and deleted while nodes run. No answer holds a secret. */
import { z } from 'zod'
import { listModels, type Catalog, type KnownUpstream, type Upstream } from '#core/catalog/catalog.ts'
import { addressOf, credentialAddressesOf } from '#core/catalog/upstream-address.ts'
import type { CredentialRecord } from '#ports/credentials.ts'
import { actorIn } from '../shared/caller.ts'
import { conflict, notFound } from '../shared/faults.ts'
import { listOf, noContent, storable, time } from '../shared/fields.ts'
import { managed, managedBody, upstreamName } from '../shared/model-fields.ts'
import type { ControlNode } from '../shared/node.ts'
import { route, type Api } from '../shared/route.ts'
import { timeOf } from '../shared/times.ts'
import { registerProviders, registerUpstreamCheck } from './check-routes.ts'
import {
  addressFields,
  bedrockRegion,
  entryOf,
  freeName,
  givenUrl,
  mergedEntry,
  newSecret,
  usable,
} from './rules.ts'

export const upstream = z
  .object({
    ...managed,
    name: z.string(),
    provider: z.string().nullable(),
    dialect: z.string(),
    base_url: z.string().describe('Where calls go.'),
    credential: z.object({
      source: z.enum(['configuration', 'store', 'none']),
      tail: z.string().nullable().describe('The last characters of a stored secret.'),
      updated_at: time.nullable(),
    }),
    deployments: z.array(z.string()).describe('Ids of what runs on it.'),
  })
  .meta({ id: 'Upstream' })

const upstreamList = listOf(upstream).meta({ id: 'UpstreamList' })
const upstreamPath = z.object({ name: storable(200).min(1) })

const newUpstream = z
  .strictObject({
    ...addressFields,
    name: upstreamName
      .optional()
      .describe('Default: the provider, or the host, with a number where it is taken.'),
    secret: newSecret.optional(),
  })
  .meta({ id: 'NewUpstream', examples: [{ provider: 'openai', name: 'openai', secret: 'sk-…' }] })

const upstreamChange = z
  .strictObject({
    base_url: givenUrl
      .optional()
      .describe('Another address drops the stored secret, unless a new one comes with it.'),
    api_version: storable(40).optional(),
    region: bedrockRegion
      .optional()
      .describe('Amazon Bedrock. Another region drops the stored secret, as another address does.'),
    secret: newSecret.nullish().describe('null: forget it.'),
  })
  .meta({ id: 'UpstreamChange', examples: [{ secret: 'sk-…' }] })

export function registerUpstreams(api: Api, node: ControlNode): void {
  registerProviders(api, node)
  registerList(api, node)
  registerUpstreamCheck(api, node)
  registerChanges(api, node)
}

function registerList(
  api: Api,
  { declaredCatalog, credentials }: Pick<ControlNode, 'declaredCatalog' | 'credentials'>,
): void {
  route(api, 'GET /upstreams', {
    permission: 'upstreams.read',
    id: 'listUpstreams',
    summary: 'All upstreams, of torana.yaml and of the store',
    answer: upstreamList,
    handler: async () => {
      const stored = new Map((await credentials.list()).map((record) => [record.upstream, record]))
      const catalog = declaredCatalog()
      const known = [...(catalog.upstreams ?? [])]
      return {
        data: known.map(([name, one]) => upstreamBody(one, stored.get(name), catalog)),
        has_more: false,
      }
    },
  })
}

function registerChanges(api: Api, node: ControlNode): void {
  const { declaredCatalog, upstreams, credentials, tryUpstream, refreshCatalog } = node

  /** Only what the store manages can be changed here. */
  const storedUpstream = async (name: string) => {
    const stored = (await upstreams.read()).upstreams.find((one) => one.name === name)
    const declared = declaredCatalog().upstreams?.get(name)
    if (declared !== undefined && declared.managedBy !== 'store')
      throw conflict(`Upstream ${name} is declared at ${declared.managedBy}. Change it there.`)
    if (stored === undefined) throw notFound(`There is no upstream ${name}.`)
    return stored
  }
  const credentialOf = async (name: string): Promise<CredentialRecord | undefined> =>
    (await credentials.list()).find((record) => record.upstream === name)
  /** The answer after a commit. It asks no store, so that a committed change is never answered with an error. */
  const committed = (built: Upstream, credential: CredentialRecord | undefined) =>
    upstreamBody({ upstream: built, managedBy: 'store' }, credential, declaredCatalog())

  route(api, 'POST /upstreams', {
    permission: 'upstreams.write',
    id: 'createUpstream',
    summary: 'Keep an upstream and its credential in the store',
    body: newUpstream,
    answers: { 201: upstream },
    faults: [409],
    handler: async (request, reply) => {
      const { name: wanted, secret, ...fields } = request.body
      const actor = actorIn(request)
      const name = wanted ?? freeName(fields, declaredCatalog())
      const entry = entryOf(fields)
      const built = usable(tryUpstream(name, entry)).upstream
      const baseUrl = addressOf(built)
      const declared = declaredCatalog().upstreams?.get(name)
      if (declared !== undefined && declared.managedBy !== 'store')
        throw conflict(
          `Upstream ${name} is declared at ${declared.managedBy}, which comes first. Choose another name.`,
        )
      const before = await credentialOf(name)
      await upstreams.addUpstream({ name, entry }, actor)
      const credential =
        secret === undefined ? before : await credentials.put({ upstream: name, baseUrl, secret }, actor)
      await refreshCatalog()
      return reply.code(201).send(committed(built, credential))
    },
  })

  route(api, 'PATCH /upstreams/:name', {
    permission: 'upstreams.write',
    id: 'changeUpstream',
    summary: 'Change an upstream of the store, or its credential',
    params: upstreamPath,
    body: upstreamChange,
    answer: upstream,
    faults: [409],
    handler: async (request) => {
      const { name } = request.params
      const { secret, ...fields } = request.body
      const actor = actorIn(request)
      const stored = await storedUpstream(name)
      const changed = entryOf(fields)
      const entry = mergedEntry(stored.entry, changed)
      const built = usable(tryUpstream(name, entry)).upstream
      const baseUrl = addressOf(built)
      let credential = await credentialOf(name)
      if (Object.keys(changed).length > 0) {
        await upstreams.changeUpstream({ name, entry }, actor)
        credential = await credentials.setBaseUrl(name, baseUrl, actor)
      }
      if (secret === null) credential = await credentials.drop(name, actor)
      else if (secret !== undefined)
        credential = await credentials.put({ upstream: name, baseUrl, secret }, actor)
      await refreshCatalog()
      return committed(built, credential)
    },
  })

  route(api, 'DELETE /upstreams/:name', {
    permission: 'upstreams.write',
    id: 'deleteUpstream',
    summary: 'Take an upstream of the store away, with its credential. No model may run on it any more',
    params: upstreamPath,
    answers: { 204: noContent },
    faults: [409],
    handler: async (request, reply) => {
      const { name } = request.params
      await storedUpstream(name)
      await upstreams.dropUpstream(name, actorIn(request))
      await refreshCatalog()
      return reply.code(204).send()
    },
  })
}

function upstreamBody(
  { upstream: one, managedBy }: KnownUpstream,
  stored: CredentialRecord | undefined,
  catalog: Catalog,
): z.output<typeof upstream> {
  const isUsable = stored?.hasSecret === true && credentialAddressesOf(one).includes(stored.baseUrl)
  const deployments = listModels(catalog).flatMap<{ readonly id: string; readonly upstream: Upstream }>(
    (model) => model.deployments,
  )
  return {
    ...managedBody(managedBy),
    name: one.name,
    provider: one.provider ?? null,
    dialect: one.dialect,
    base_url: addressOf(one),
    credential: {
      source: one.apiKey === undefined ? (isUsable ? 'store' : 'none') : 'configuration',
      tail: isUsable ? (stored.tail ?? null) : null,
      updated_at: isUsable ? timeOf(stored.updatedAtMs) : null,
    },
    deployments: deployments.filter(({ upstream: { name } }) => name === one.name).map(({ id }) => id),
  }
}
