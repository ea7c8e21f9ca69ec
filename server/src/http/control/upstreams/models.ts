/** Routes that add models of an upstream to the store, and take them away. */
import type { StoredAdditions, StoredDeployment } from '#ports/stored-upstreams.ts'
import { faultAnswers } from '../../fault-answers.ts'
import { actorIn } from '../access/caller.ts'
import { noContent } from '../keys/schemas.ts'
import { rowBody, type ModelView } from '../models/bodies.ts'
import { modelPath } from '../models/schemas.ts'
import { conflict, invalidField, notFound } from '../wire/faults.ts'
import type { Api } from '../wire/route.ts'
import type { UpstreamsDependencies } from './routes.ts'
import { addedModels, newModels } from './schemas.ts'

export interface StoredModelsDependencies extends UpstreamsDependencies {
  /** What would be left out of these additions, and why. */
  readonly problemsWith: (additions: StoredAdditions) => readonly string[]
  /** Without figures: nothing was asked of a model that is new. */
  readonly view: () => Promise<ModelView>
}

export function registerStoredModels(api: Api, dependencies: StoredModelsDependencies): void {
  const { catalog, upstreams, problemsWith, inForce, view } = dependencies

  api.post('/models', {
    config: { permission: 'models.write' },
    schema: {
      operationId: 'addModels',
      summary: 'Serve models of an upstream, from the store. All nodes serve them within two seconds',
      body: newModels,
      response: { 201: addedModels, ...faultAnswers([400, 401, 403, 404, 409, 503]) },
    },
    handler: async (request, reply) => {
      const { upstream, ids, own = {} } = request.body
      if (catalog().upstreams?.has(upstream) !== true) throw notFound(`There is no upstream ${upstream}.`)
      for (const id of ids) {
        const declared = catalog().models.get(id)
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
      // Asked before anything changes: once the models are committed, a failed question must not turn the answer into an error.
      const shown = await view()
      await upstreams.addDeployments(deployments, actorIn(request))
      await inForce()
      const rows = ids.flatMap((id) => catalog().models.get(id) ?? []).map((model) => rowBody(model, shown))
      return reply.code(201).send(rows)
    },
  })

  api.delete('/models/:id', {
    config: { permission: 'models.write' },
    schema: {
      operationId: 'deleteModel',
      summary: 'Stop serving a model of the store. What it cost stays in the books',
      params: modelPath,
      response: { 204: noContent, ...faultAnswers([401, 403, 404, 409, 503]) },
    },
    handler: async (request, reply) => {
      const { id } = request.params
      const model = catalog().models.get(id)
      if (model !== undefined && model.managedBy !== 'store')
        throw conflict(`Model ${id} is declared at ${model.managedBy}. Delete it there.`)
      await upstreams.dropModel(model?.id ?? id, actorIn(request))
      await inForce()
      return reply.code(204).send()
    },
  })
}

type OwnFacts = { readonly kind: 'embedding'; readonly width: number } | { readonly kind: 'image' }

/** As torana.yaml would say it. */
function factsIn(own: OwnFacts | undefined): StoredDeployment['entry'] {
  if (own === undefined) return {}
  return own.kind === 'image'
    ? { kind: 'image' }
    : { kind: 'embedding', embedding: { dimensions: own.width } }
}

/** What is wrong because of these, not what was wrong before. */
function newProblems(
  there: StoredAdditions,
  added: readonly StoredDeployment[],
  problemsWith: StoredModelsDependencies['problemsWith'],
): readonly string[] {
  const before = new Set(problemsWith(there))
  const after = problemsWith({ ...there, deployments: [...there.deployments, ...added] })
  return after.filter((problem) => !before.has(problem))
}
