/** Upstreams of torana.yaml and of the store: listed, connected, changed and deleted while nodes run. No answer holds a secret. */
import { z } from 'zod'
import { listModels, type Catalog, type KnownUpstream, type Upstream } from '#core/catalog/catalog.ts'
import { addressOf } from '#core/catalog/upstream-address.ts'
import { standingsOf, type NodeSummary } from '#core/traffic/node-summary.ts'
import type { CredentialRecord } from '#ports/credentials.ts'
import { actorIn } from '../shared/caller.ts'
import { saveConfiguration } from '../shared/configuration.ts'
import { isSame, type Change } from '../shared/configuration-change.ts'
import { conflict, notFound } from '../shared/faults.ts'
import { listOf, noContent, storable, time } from '../shared/fields.ts'
import { managed, managedBody, source, sourceBody, upstreamName } from '../shared/model-fields.ts'
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
  stateOf,
  upstreamState,
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
    models: z.int().describe('Models that run on it.'),
    source,
    revision: z
      .string()
      .nullable()
      .describe('Of the object in the store, for `base` of a change. null: it is declared.'),
    entry: z
      .record(z.string(), z.unknown())
      .nullable()
      .describe('The object in the store, as in torana.yaml.'),
    state: upstreamState,
    last_check_at: time.nullable().describe('When a call or a probe last showed its state.'),
  })
  .meta({ id: 'Upstream' })

/** The answer to a change, built from what was committed. */
const changedUpstream = upstream
  .omit({ state: true, last_check_at: true, revision: true, entry: true })
  .meta({ id: 'ChangedUpstream' })

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
  { declaredCatalog, credentials, configuration, summaries, spaceGuard }: ControlNode,
): void {
  route(api, 'GET /upstreams', {
    permission: 'upstreams.read',
    id: 'listUpstreams',
    summary: 'All upstreams, of torana.yaml and of the store',
    answer: upstreamList,
    handler: async () => {
      const [records, objects, nodes] = await Promise.all([
        credentials.list(),
        configuration.read(),
        summaries(),
      ])
      const stored = new Map(records.map((record) => [record.upstream, record]))
      const entries = new Map(objects.flatMap((one) => (one.object === 'upstream' ? [[one.name, one]] : [])))
      const standings = standingsOf(nodes)
      const catalog = declaredCatalog()
      const data = [...(catalog.upstreams ?? [])].map(([name, one]) => {
        const body = upstreamBody(one, stored.get(name), catalog)
        const own = one.managedBy === 'store' ? entries.get(name) : undefined
        const { deployments } = body
        return {
          ...body,
          revision: own ? String(own.revision) : null,
          entry: own ? { ...own.entry } : null,
          state: stateOf(
            deployments.map((id) => standings.get(id)),
            deployments.length > 0,
          ),
          last_check_at: timeOf(lastCheck(deployments, nodes, spaceGuard)),
        }
      })
      return { data, has_more: false }
    },
  })
}

function registerChanges(api: Api, node: ControlNode): void {
  const { declaredCatalog, configuration, credentials, tryUpstream, refreshCatalog } = node

  /** Only what the store manages can be changed here. */
  const storedUpstream = async (name: string) => {
    const stored = (await configuration.read()).find((one) => one.object === 'upstream' && one.name === name)
    checkStored(name, declaredCatalog())
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
    answers: { 201: changedUpstream },
    faults: [409],
    handler: async (request, reply) => {
      const { name: wanted, secret, ...fields } = request.body
      const name = wanted ?? freeName(fields, declaredCatalog())
      const entry = entryOf(fields)
      const built = usable(tryUpstream(name, entry)).upstream
      checkStored(name, declaredCatalog())
      if ((await configuration.read()).some((one) => one.object === 'upstream' && one.name === name))
        throw conflict(`Upstream ${name} already exists.`)
      const before = await credentialOf(name)
      const change: Change = { object: 'upstream', name, entry, base: null, secret }
      const { credentials: stored } = await saveConfiguration(node, [change], actorIn(request))
      await refreshCatalog()
      return reply.code(201).send(committed(built, stored[0] ?? before))
    },
  })

  route(api, 'PATCH /upstreams/:name', {
    permission: 'upstreams.write',
    id: 'changeUpstream',
    summary: 'Change an upstream of the store, or its credential',
    params: upstreamPath,
    body: upstreamChange,
    answer: changedUpstream,
    faults: [409],
    handler: async (request) => {
      const { name } = request.params
      const { secret, ...fields } = request.body
      const actor = actorIn(request)
      const stored = await storedUpstream(name)
      const entry = mergedEntry(stored.entry, entryOf(fields))
      const built = usable(tryUpstream(name, entry)).upstream
      let credential = await credentialOf(name)
      if (!isSame(entry, stored.entry)) {
        const change: Change = { object: 'upstream', name, entry, base: stored.revision, secret }
        const saved = await saveConfiguration(node, [change], actor)
        credential = saved.credentials[0] ?? credential
      } else if (secret === null) credential = await credentials.drop(name, actor)
      else if (secret !== undefined)
        credential = await credentials.put({ upstream: name, baseUrl: addressOf(built), secret }, actor)
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
      const { revision } = await storedUpstream(name)
      await saveConfiguration(
        node,
        [{ object: 'upstream', name, entry: null, base: revision }],
        actorIn(request),
      )
      await refreshCatalog()
      return reply.code(204).send()
    },
  })
}

function checkStored(name: string, { upstreams }: Catalog): void {
  const declared = upstreams?.get(name)
  if (declared !== undefined && declared.managedBy !== 'store')
    throw conflict(`Upstream ${name} is declared at ${declared.managedBy}. Change it there.`)
}

/** The last probe, or the last report of a node that calls it now. */
function lastCheck(
  deployments: readonly string[],
  nodes: readonly NodeSummary[],
  spaceGuard: ControlNode['spaceGuard'],
): number | undefined {
  const probes = deployments.flatMap((id) => spaceGuard.standingOf(id)?.last?.atMs ?? [])
  const calls = nodes.flatMap(({ atMs, deployments: all }) =>
    all.some(({ id, rate }) => deployments.includes(id) && rate.requests > 0) ? [atMs] : [],
  )
  const all = [...probes, ...calls]
  return all.length === 0 ? undefined : Math.max(...all)
}

function upstreamBody(
  { upstream: one, managedBy }: KnownUpstream,
  stored: CredentialRecord | undefined,
  catalog: Catalog,
): z.output<typeof changedUpstream> {
  const isUsable = stored?.hasSecret === true && addressOf(one) === stored.baseUrl
  const models = listModels(catalog)
  const deployments = models
    .flatMap<{ readonly id: string; readonly upstream: Upstream }>((model) => model.deployments)
    .filter(({ upstream: { name } }) => name === one.name)
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
    deployments: deployments.map(({ id }) => id),
    models: models.filter((model) => model.deployments.some(({ upstream: { name } }) => name === one.name))
      .length,
    source: sourceBody(managedBy, one.name),
  }
}
