/** Filters that members of a project share under a name. */
import { z } from 'zod'
import { may } from '#core/access/permission.ts'
import { actorIn, callerIn, maySee, visibleProjects } from '../shared/caller.ts'
import { invalidField } from '../shared/faults.ts'
import { name, noContent, pageOf, storable } from '../shared/fields.ts'
import type { ControlNode } from '../shared/node.ts'
import { projectTerms } from '../shared/project-terms.ts'
import { route, type Api } from '../shared/route.ts'
import { savedView } from './queries.ts'
import { listSharedViews, sharedView, shareView, unshareView } from './shared-queries.ts'

const sharedViews = pageOf(sharedView).meta({ id: 'SharedViewList' })

const newView = z.strictObject({ project: name, ...savedView.shape }).meta({
  id: 'NewSharedView',
  examples: [{ project: 'search', page: 'requests', name: 'Failed today', search: 'outcome=failed' }],
})

type SharedViewsNode = Pick<ControlNode, 'reports' | 'keyStore' | 'declaredProjects'>

export function registerSharedViews(api: Api, node: SharedViewsNode): void {
  const { reports } = node
  route(api, 'GET /shared-views', {
    permission: 'projects.read',
    id: 'listSharedViews',
    summary: 'Filters that members of a project share, by project',
    query: z.object({ project: name.optional(), page: storable(60).min(1).optional() }),
    answer: sharedViews,
    handler: async (request) => {
      const { project, page } = request.query
      const projects = visibleProjects(callerIn(request), project)
      return { data: await listSharedViews(reports, projects, page), has_more: false, next: null }
    },
  })

  route(api, 'POST /shared-views', {
    permission: 'projects.read',
    id: 'shareView',
    summary: 'Share filters under a name with the members of a project',
    body: newView,
    answers: { 201: sharedView },
    faults: [409],
    handler: async (request, reply) => {
      const { body } = request
      visibleProjects(callerIn(request), body.project)
      if ((await projectTerms(body.project, node)) === undefined)
        throw invalidField(`There is no project ${body.project}.`, 'project')
      return reply.code(201).send(await shareView(reports, body, actorIn(request)))
    },
  })

  route(api, 'DELETE /shared-views/:id', {
    permission: 'projects.read',
    id: 'unshareView',
    summary: 'Delete a shared view: your own, or any for an admin',
    params: z.object({ id: z.uuid() }),
    answers: { 204: noContent },
    handler: async (request, reply) => {
      const caller = callerIn(request)
      const isAdmin = may(caller.role, 'projects.write')
      await unshareView(
        reports,
        request.params.id,
        ({ project, created_by: maker }) => maySee(caller, project) && (isAdmin || maker === caller.actor),
        actorIn(request),
      )
      return reply.code(204).send()
    },
  })
}
