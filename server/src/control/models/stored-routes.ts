/** Models of the store: added to what is served, and deleted, while nodes run. */
import { z } from 'zod'
import type { StoredAdditions, StoredDeployment } from '#ports/stored-upstreams.ts'
import { actorIn } from '../shared/caller.ts'
import { conflict, invalidField, notFound } from '../shared/faults.ts'
import { noContent, storable } from '../shared/fields.ts'
import { upstreamName } from '../shared/model-fields.ts'
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
  })
  .meta({ id: 'NewModels', examples: [{ upstream: 'openai', ids: ['text-embedding-3-small'] }] })

const addedModels = z.array(modelRow)

export function registerStoredModels(
  api: Api,
  { declaredCatalog, upstreams, problemsWith, refreshCatalog }: ControlNode,
  viewOf: ReturnType<typeof openView>,
): void {
  route(api, 'POST /models', {
    permission: 'models.write',
    id: 'addModels',
    summary: 'Serve models of an upstream, from the store. All nodes serve them within two seconds',
    body: newModels,
    answers: { 201: addedModels },
    faults: [404, 409],
    handler: async (request, reply) => {
      const { upstream, ids, own = {} } = request.body
      if (declaredCatalog().upstreams?.has(upstream) !== true)
        throw notFound(`There is no upstream ${upstream}.`)
      for (const id of ids) {
        const declared = declaredCatalog().models.get(id)
        if (declared !== undefined && declared.managedBy !== 'store')
          throw conflict(
            `Model ${id} is declared at ${declared.managedBy}, which comes first. Add the deployment there.`,
          )
      }
      const deployments = [...new Set(ids)].map((model): StoredDeployment => ({
        model,
        upstream,
        entry: factsIn(own[model]),
      }))
      const there = await upstreams.read()
      const problems = newProblems(there, deployments, problemsWith)
      if (problems.length > 0) throw invalidField(problems.join('; '), 'ids')
      // Read before the commit, so that a failed read can't turn a committed change into an error. A new model has no figures.
      const view = await viewOf(new Map())
      await upstreams.addDeployments(deployments, actorIn(request))
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
      await upstreams.dropModel(model?.id ?? id, actorIn(request))
      await refreshCatalog()
      return reply.code(204).send()
    },
  })
}

type OwnFacts = { readonly kind: 'embedding'; readonly width: number } | { readonly kind: 'image' }

/** As an entry of torana.yaml. */
function factsIn(own: OwnFacts | undefined): StoredDeployment['entry'] {
  if (own === undefined) return {}
  return own.kind === 'image'
    ? { kind: 'image' }
    : { kind: 'embedding', embedding: { dimensions: own.width } }
}

/** The problems that come with these deployments, without those that were there before. */
function newProblems(
  there: StoredAdditions,
  added: readonly StoredDeployment[],
  problemsWith: ControlNode['problemsWith'],
): readonly string[] {
  const before = new Set(problemsWith(there))
  const after = problemsWith({ ...there, deployments: [...there.deployments, ...added] })
  return after.filter((problem) => !before.has(problem))
}
