/** Models of the store: added to what is served, and deleted, while nodes run. */
import { z } from 'zod'
import type { StoredEntry, StoredObject } from '#ports/stored-configuration.ts'
import { actorIn } from '../shared/caller.ts'
import { saveConfiguration } from '../shared/configuration.ts'
import { deploymentsIn, type Change } from '../shared/configuration-change.ts'
import { conflict, notFound } from '../shared/faults.ts'
import { noContent, storable } from '../shared/fields.ts'
import { priceForm, upstreamName } from '../shared/model-fields.ts'
import type { ControlNode } from '../shared/node.ts'
import { route, type Api } from '../shared/route.ts'
import type { openView } from './open.ts'
import { modelRow, rowBody } from './row-rules.ts'

/** Models of one request: more than any upstream lists. */
const MAX_IDS = 500
const MAX_WIDTH = 65_536

export const modelPath = z.object({
  id: storable(400).min(1).describe('Its id or an alias; `/` is written `%2F`.'),
})

const modelId = z
  .string()
  .regex(/^[\x21-\x7e]{1,200}$/, 'a model id has 1 to 200 visible ASCII characters without spaces')

const newModels = z
  .strictObject({
    upstream: upstreamName,
    ids: z.array(modelId).min(1).max(MAX_IDS),
    own: z
      .record(
        modelId,
        z.discriminatedUnion('kind', [
          z.strictObject({ kind: z.literal('embedding'), width: z.int().min(1).max(MAX_WIDTH) }),
          z.strictObject({ kind: z.literal('image') }),
        ]),
      )
      .optional()
      .describe('What those models are that Torana has no facts about.'),
    prices: z
      .record(modelId, priceForm)
      .optional()
      .describe('What the new deployments cost. The others have the price of the catalog, if it has one.'),
  })
  .meta({ id: 'NewModels', examples: [{ upstream: 'openai', ids: ['text-embedding-3-small'] }] })

const addedModels = z.array(modelRow)

export function registerStoredModels(api: Api, node: ControlNode, viewOf: ReturnType<typeof openView>): void {
  const { declaredCatalog, configuration, refreshCatalog } = node
  route(api, 'POST /models', {
    permission: 'models.write',
    id: 'addModels',
    summary: 'Serve models of an upstream, from the store. All nodes serve them within two seconds',
    body: newModels,
    answers: { 201: addedModels },
    faults: [404, 409],
    handler: async (request, reply) => {
      const { upstream, ids, own = {}, prices = {} } = request.body
      if (declaredCatalog().upstreams?.has(upstream) !== true)
        throw notFound(`There is no upstream ${upstream}.`)
      const stored = await configuration.read()
      const changes = [...new Set(ids)].map((id) => {
        const price = prices[id]
        const deployment = { upstream, ...(price !== undefined && { price }) }
        return withDeployment(stored, id, deployment, factsIn(own[id]))
      })
      // Read before the commit, so that a failed read can't turn a committed change into an error. A new model has no figures.
      const view = await viewOf(new Map())
      await saveConfiguration(node, changes, actorIn(request))
      await refreshCatalog()
      const rows = ids
        .flatMap((id) => declaredCatalog().models.get(id) ?? [])
        .map((model) => rowBody(model, view))
      return reply.code(201).send(rows)
    },
  })

  route(api, 'DELETE /models/:id', {
    permission: 'models.write',
    id: 'deleteModel',
    summary: 'Stop serving a model of the store. What it cost stays in the ledger',
    params: modelPath,
    answers: { 204: noContent },
    faults: [409],
    handler: async (request, reply) => {
      const { id } = request.params
      const model = declaredCatalog().models.get(id)
      if (model !== undefined && model.managedBy !== 'store')
        throw conflict(`Model ${id} is declared at ${model.managedBy}. Delete it there.`)
      const name = model?.id ?? id
      const stored = (await configuration.read()).find((one) => one.object === 'model' && one.name === name)
      if (stored === undefined) throw notFound(`There is no model ${name} in the store.`)
      const change: Change = { object: 'model', name, entry: null, base: stored.revision }
      await saveConfiguration(node, [change], actorIn(request))
      await refreshCatalog()
      return reply.code(204).send()
    },
  })
}

type OwnFacts = { readonly kind: 'embedding'; readonly width: number } | { readonly kind: 'image' }

/** As an entry of torana.yaml. */
function factsIn(own: OwnFacts | undefined): StoredEntry {
  if (own === undefined) return {}
  return own.kind === 'image'
    ? { kind: 'image' }
    : { kind: 'embedding', embedding: { dimensions: own.width } }
}

/** A model with one more deployment, behind those that the store has. */
function withDeployment(
  stored: readonly StoredObject[],
  name: string,
  deployment: { readonly upstream: string; readonly price?: z.output<typeof priceForm> },
  facts: StoredEntry,
): Change {
  const known = stored.find((one) => one.object === 'model' && one.name === name)
  const deployments = known === undefined ? [] : deploymentsIn(known.entry)
  if (deployments.some((one) => one['upstream'] === deployment.upstream))
    throw conflict(`Model ${name} runs on upstream ${deployment.upstream} already.`)
  return {
    object: 'model',
    name,
    entry: { ...known?.entry, ...facts, deployments: [...deployments, deployment] },
    base: known?.revision ?? null,
  }
}
