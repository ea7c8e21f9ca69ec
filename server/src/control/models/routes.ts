/** Models: what callers can ask for, and how each deployment serves it. */
import { listModels, type Catalog, type Model } from '#core/catalog/catalog.ts'
import { isNear } from '#core/catalog/model-end.ts'
import { callerIn, visibleProjects } from '../shared/caller.ts'
import { notFound } from '../shared/faults.ts'
import { pageOf } from '../shared/fields.ts'
import { usersOfModels, type ModelUsers } from '../shared/model-users-queries.ts'
import type { ControlNode } from '../shared/node.ts'
import { route, type Api } from '../shared/route.ts'
import { detailBody, modelDetail } from './detail-rules.ts'
import { declaredLists, isWanted, modelsQuery, sorted, usableBy } from './list-rules.ts'
import { openView } from './open.ts'
import {
  cacheUseOf,
  figuresByModel,
  listRetiredAskers,
  modelsOfKeys,
  usesOfModel,
  type RetiredAsker,
} from './queries.ts'
import { modelRow, retiredRow, rowBody, type ModelRow } from './row-rules.ts'
import { modelPath, registerStoredModels } from './stored-routes.ts'

export const modelList = pageOf(modelRow).meta({ id: 'ModelRowList' })

type Projects = readonly string[] | undefined

export function registerModels(api: Api, node: ControlNode): void {
  const { catalog, declaredProjects, reports, clock } = node
  const viewOf = openView(node)

  const usable = async (projects: Projects): Promise<(model: Model) => boolean> => {
    if (projects === undefined) return () => true
    const stored = await modelsOfKeys(reports, projects, clock.nowMs())
    return usableBy([...declaredLists(declaredProjects(), projects), ...stored])
  }

  route(api, 'GET /models', {
    permission: 'models.read',
    id: 'listModels',
    summary: 'All models with their deployments, abilities, prices and figures',
    query: modelsQuery,
    answer: modelList,
    handler: async (request) => {
      const { query } = request
      const projects = visibleProjects(callerIn(request), query.project)
      const nowMs = clock.nowMs()
      const mayUse = await usable(projects)
      const [view, askers] = await Promise.all([
        viewOf(figuresByModel(reports, projects, nowMs)),
        listRetiredAskers(reports, projects, nowMs),
      ])
      const served = listModels(catalog()).filter(mayUse)
      const rows = [...served.map((one) => rowBody(one, view)), ...retiredRows(catalog(), askers)]
      const data = sorted(
        rows.filter((row) => isWanted(row, query)),
        query.sort,
      )
      return { data, has_more: false, next: null }
    },
  })

  route(api, 'GET /models/:id', {
    permission: 'models.read',
    id: 'getModel',
    summary: 'One model: what each deployment does with each option, and who gets a call',
    params: modelPath,
    answer: modelDetail,
    handler: async (request) => {
      const { id } = request.params
      const projects = visibleProjects(callerIn(request))
      const nowMs = clock.nowMs()
      const found = catalog().models.get(id)
      if (found === undefined || !(await usable(projects))(found)) throw notFound(`There is no model ${id}.`)
      const endsSoon = found.deployments.some(
        ({ end }: Model['deployments'][number]) => end !== undefined && isNear(end, nowMs),
      )
      const [view, uses, cache, users] = await Promise.all([
        viewOf(figuresByModel(reports, projects, nowMs)),
        usesOfModel(reports, found.id, projects, nowMs),
        cacheUseOf(reports, found.id, projects, nowMs),
        endsSoon ? usersOfModels(reports, [found.id], projects, nowMs) : null,
      ])
      return detailBody(found, view, { uses, cache, users: users && (users.get(found.id) ?? NO_USERS) })
    },
  })

  registerStoredModels(api, node, viewOf)
}

const NO_USERS: ModelUsers = { keys: [], count: 0, requests_30d: 0 }

/** Models that are gone and that keys still ask for, so that an operator learns which keys do. */
function retiredRows({ retired }: Catalog, askers: readonly RetiredAsker[]): ModelRow[] {
  return [...Map.groupBy(askers, ({ model }) => model)].flatMap(([id, own]) => {
    const one = retired.get(id)
    return one === undefined ? [] : [retiredRow(one, own)]
  })
}
