import { faultAnswers } from '../../fault-answers.ts'
import type { KeyDependencies } from './dependencies.ts'
import { actorIn, callerIn, visibleProjects } from '../access/caller.ts'
import type { Api } from '../wire/route.ts'
import { conflict, declared, refuseReserved } from '../wire/faults.ts'
import { mergedPage } from '../wire/page.ts'
import {
  changedProject,
  namePage,
  newProject,
  noContent,
  projectChange,
  projectList,
  projectPath,
} from './schemas.ts'
import { changedProjectBody, termsChange } from './shapes.ts'
import { declaredProject, projectBodies, storedProject } from './views.ts'

export function registerProjects(api: Api, dependencies: KeyDependencies): void {
  const { keyStore } = dependencies
  const isDeclared = (name: string): boolean => dependencies.declared().some((one) => one.name === name)

  api.get('/projects', {
    config: { permission: 'projects.read' },
    schema: {
      operationId: 'listProjects',
      summary: 'Projects, by name',
      querystring: namePage,
      response: { 200: projectList, ...faultAnswers([400, 401, 503]) },
    },
    handler: async (request) => {
      const { after, limit } = request.query
      const projects = visibleProjects(callerIn(request))
      const stored = await keyStore.listProjects({ projects, after, limit: limit + 1 })
      const page = mergedPage({
        stored: stored.map(storedProject),
        declared: dependencies
          .declared()
          .filter(({ name }) => projects?.includes(name) ?? true)
          .map(declaredProject),
        nameOf: ({ name }) => name,
        after: after === undefined ? undefined : { rank: 0, id: after },
        limit,
      })
      return { data: await projectBodies(page.data, dependencies), has_more: page.has_more }
    },
  })

  api.post('/projects', {
    config: { permission: 'projects.write' },
    schema: {
      operationId: 'createProject',
      summary: 'Make a project',
      body: newProject,
      response: { 201: changedProject, ...faultAnswers([400, 401, 409, 503]) },
    },
    handler: async (request, reply) => {
      const { name, ...terms } = request.body
      refuseReserved(name)
      if (isDeclared(name)) throw conflict(`Project ${name} already exists in the configuration.`)
      const made = await keyStore.createProject(name, termsChange(terms), actorIn(request))
      return reply.code(201).send(changedProjectBody(made))
    },
  })

  api.patch('/projects/:project', {
    config: { permission: 'projects.write' },
    schema: {
      operationId: 'setProject',
      summary: 'Change limits and budget of a project',
      params: projectPath,
      body: projectChange,
      response: { 200: changedProject, ...faultAnswers([400, 401, 404, 409, 503]) },
    },
    handler: async (request) => {
      const { project: name } = request.params
      if (isDeclared(name)) throw declared(`Project ${name}`)
      return changedProjectBody(await keyStore.setProject(name, termsChange(request.body), actorIn(request)))
    },
  })

  api.delete('/projects/:project', {
    config: { permission: 'projects.delete' },
    schema: {
      operationId: 'deleteProject',
      summary: 'Revoke all keys of a project and mark its data for deletion',
      params: projectPath,
      response: { 204: noContent, ...faultAnswers([400, 401, 404, 409, 503]) },
    },
    handler: async (request, reply) => {
      const { project: name } = request.params
      if (isDeclared(name)) throw declared(`Project ${name}`)
      await keyStore.deleteProject(name, actorIn(request))
      return reply.code(204).send()
    },
  })
}
