/** Routes about models: what can be asked for, how each deployment serves it, and how it goes. */
import { listModels, type Catalog, type Model } from '#core/catalog.ts'
import { isNear } from '#core/model-end.ts'
import type { ModelFigures, ModelUsers } from '#ports/model-figures.ts'
import { faultAnswers } from '../../fault-answers.ts'
import { callerIn, visibleProjects } from '../access/caller.ts'
import { notFound } from '../wire/faults.ts'
import type { Api } from '../wire/route.ts'
import { modelBody, retiredRow, rowBody, type ModelView } from './bodies.ts'
import type { Health } from './health.ts'
import { isWanted, sorted } from './filter.ts'
import { model, modelList, modelPath, modelsQuery } from './schemas.ts'
import { usableBy } from './usable.ts'

export interface ModelsDependencies extends Omit<ModelView, 'figures' | 'health'> {
  readonly health: () => Promise<Health>
  readonly catalog: () => Catalog
  /** Undefined on a node that keeps nothing. */
  readonly figures: ModelFigures | undefined
  /** The keys that torana.yaml and the environment declare. */
  readonly declared: () => Catalog['projects']
}

export function registerModels(api: Api, dependencies: ModelsDependencies): void {
  const { catalog, figures, declared } = dependencies

  const usable = async (projects: readonly string[] | undefined): Promise<(model: Model) => boolean> =>
    usableBy(projects, { declared: declared(), stored: figures })

  api.get('/models', {
    config: { permission: 'models.read' },
    schema: {
      operationId: 'listModels',
      summary: 'All models with their deployments, abilities, prices and figures',
      querystring: modelsQuery,
      response: { 200: modelList, ...faultAnswers([400, 401, 403, 503]) },
    },
    handler: async (request) => {
      const { query } = request
      const projects = visibleProjects(callerIn(request), query.project)
      const mayUse = await usable(projects)
      const [all, health, asked] = await Promise.all([
        figures?.figures(projects),
        dependencies.health(),
        figures?.askedRetired(projects),
      ])
      const view = { ...dependencies, figures: all, health }
      const served = listModels(catalog()).filter(mayUse)
      const rows = [...served.map((one) => rowBody(one, view)), ...retiredRows(catalog(), asked)]
      return {
        data: sorted(
          rows.filter((row) => isWanted(row, query)),
          query.sort,
        ),
        has_more: false,
        next: null,
      }
    },
  })

  api.get('/models/:id', {
    config: { permission: 'models.read' },
    schema: {
      operationId: 'getModel',
      summary: 'One model: what each deployment does with each option, and who gets a call',
      params: modelPath,
      response: { 200: model, ...faultAnswers([401, 403, 404, 503]) },
    },
    handler: async (request) => {
      const { id } = request.params
      const projects = visibleProjects(callerIn(request))
      const found = catalog().models.get(id)
      if (found === undefined || !(await usable(projects))(found)) throw notFound(`There is no model ${id}.`)
      const endsSoon = found.deployments.some(
        ({ end }: Model['deployments'][number]) => end !== undefined && isNear(end, dependencies.nowMs()),
      )
      const [health, all, uses, cache, users] = await Promise.all([
        dependencies.health(),
        figures?.figures(projects),
        figures?.uses(found.id, projects),
        figures?.cacheUse(found.id, projects),
        endsSoon ? figures?.users([found.id], projects) : undefined,
      ])
      const usedBy = users && (users.get(found.id) ?? NO_USERS)
      return modelBody(found, { ...dependencies, figures: all, health }, { uses, cache, users: usedBy })
    },
  })
}

const NO_USERS: ModelUsers = { keys: [], count: 0 }

/** Models that are gone and yet asked for: an operator wants to know by whom. */
function retiredRows(
  { retired }: Catalog,
  asked: Awaited<ReturnType<ModelFigures['askedRetired']>> | undefined,
): ReturnType<typeof retiredRow>[] {
  return [...(asked ?? [])].flatMap(([id, keys]) => {
    const one = retired.get(id)
    return one === undefined ? [] : [retiredRow(one, keys)]
  })
}
