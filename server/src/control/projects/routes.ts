/** Projects: those of the store can be made, changed and deleted; declared ones are only listed. */
import { z } from 'zod'
import { actorIn, callerIn, visibleProjects } from '../shared/caller.ts'
import { conflict, declared, refuseReserved } from '../shared/faults.ts'
import { listOf, name, noContent, pageLimit as limit, storable } from '../shared/fields.ts'
import { mergedPage } from '../shared/page.ts'
import { route, type Api } from '../shared/route.ts'
import { termsChange, termsChangeOf } from '../shared/terms.ts'
import {
  changedProject,
  changedProjectBody,
  project,
  projectBodies,
  type ProjectsNode,
  type ShownProject,
} from './queries.ts'

const newProject = z.strictObject({ name, ...termsChange }).meta({
  id: 'NewProject',
  examples: [
    {
      name: 'search',
      limits: { requests_per_minute: 600 },
      budget: { usd: 200, per: 'month', hard: true },
    },
  ],
})
const projectChange = z
  .strictObject(termsChange)
  .meta({ id: 'ProjectChange', examples: [{ budget: { usd: 250, per: 'month', hard: true } }] })
const projectPath = z.object({ project: name })

export function registerProjects(api: Api, node: ProjectsNode): void {
  const { keyStore, declaredProjects } = node
  const isDeclared = (project: string): boolean => declaredProjects().some((one) => one.name === project)
  const notDeclared = (project: string): string => {
    if (isDeclared(project)) throw declared(`Project ${project}`)
    return project
  }

  route(api, 'GET /projects', {
    permission: 'projects.read',
    id: 'listProjects',
    summary: 'Projects, by name',
    query: z.object({ after: storable(500).optional(), limit }),
    answer: listOf(project).meta({ id: 'ProjectList' }),
    handler: async (request) => {
      const { after, limit: shown } = request.query
      const projects = visibleProjects(callerIn(request))
      const stored = await keyStore.listProjects({ projects, after, limit: shown + 1 })
      const page = mergedPage<ShownProject>({
        stored: stored.map((one) => ({ ...one, managed_by: 'store' })),
        declared: declaredProjects()
          .filter((one) => projects?.includes(one.name) ?? true)
          .map((one) => ({ ...one, managed_by: 'configuration' })),
        nameOf: (one) => one.name,
        after: after === undefined ? undefined : { rank: 0, id: after },
        limit: shown,
      })
      return { data: await projectBodies(page.data, node), has_more: page.has_more }
    },
  })

  route(api, 'POST /projects', {
    permission: 'projects.write',
    id: 'createProject',
    summary: 'Make a project',
    body: newProject,
    answers: { 201: changedProject },
    faults: [409],
    handler: async (request, reply) => {
      const { name: made, ...change } = request.body
      refuseReserved(made)
      if (isDeclared(made)) throw conflict(`Project ${made} already exists in the configuration.`)
      const record = await keyStore.createProject(made, termsChangeOf(change), actorIn(request))
      return reply.code(201).send(changedProjectBody({ ...record, managed_by: 'store' }))
    },
  })

  route(api, 'PATCH /projects/:project', {
    permission: 'projects.write',
    id: 'setProject',
    summary: 'Change limits and budget of a project',
    params: projectPath,
    body: projectChange,
    answer: changedProject,
    faults: [409],
    handler: async (request) => {
      const changed = notDeclared(request.params.project)
      const record = await keyStore.setProject(changed, termsChangeOf(request.body), actorIn(request))
      return changedProjectBody({ ...record, managed_by: 'store' })
    },
  })

  route(api, 'DELETE /projects/:project', {
    permission: 'projects.delete',
    id: 'deleteProject',
    summary: 'Revoke all keys of a project and mark its data for deletion',
    params: projectPath,
    answers: { 204: noContent },
    faults: [409],
    handler: async (request, reply) => {
      await keyStore.deleteProject(notDeclared(request.params.project), actorIn(request))
      return reply.code(204).send()
    },
  })
}
