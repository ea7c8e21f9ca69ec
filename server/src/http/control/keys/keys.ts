/** Routes about keys: those of the store can be made, changed, rotated and revoked; declared ones are only listed. */
import type { FastifyRequest } from 'fastify'
import { keyTail } from '#core/key.ts'
import type { NewSecret, Peppers } from '#ports/key-store.ts'
import { faultAnswers } from '../../fault-answers.ts'
import type { KeyDependencies } from './dependencies.ts'
import { checkModels, checkSecret, checkWithinProject, declaredKeys, storedId } from './checks.ts'
import { invalidField, refuseReserved } from '../wire/faults.ts'
import { mergedPage } from '../wire/page.ts'
import { actorIn, callerIn, checkSeen, visibleProjects } from '../access/caller.ts'
import type { Api } from '../wire/route.ts'
import { key, keyChange, keyList, keyPage, keyPath, keyWithSecret, newKey, rotation } from './schemas.ts'
import { declaredKeyBody, keyBody, keyChange as changeOf } from './shapes.ts'

export function registerKeys(api: Api, dependencies: KeyDependencies): void {
  registerList(api, dependencies)
  registerCreation(api, dependencies)
  registerChange(api, dependencies)
  registerRotation(api, dependencies)
  registerRevocation(api, dependencies)
}

function registerList(api: Api, dependencies: KeyDependencies): void {
  const { keyStore, peppers } = dependencies
  api.get('/keys', {
    config: { permission: 'keys.read' },
    schema: {
      operationId: 'listKeys',
      summary: 'Keys, by id',
      querystring: keyPage,
      response: { 200: keyList, ...faultAnswers([400, 401, 403, 503]) },
    },
    handler: async (request) => {
      const { project, after, limit } = request.query
      const projects = visibleProjects(callerIn(request), project)
      const stored = await keyStore.listKeys({ projects, after, limit: limit + 1 })
      const others = declaredKeys(dependencies).filter((one) => projects?.includes(one.project) ?? true)
      return mergedPage({
        stored: stored.map((record) => keyBody(record, peppers)),
        declared: others.map((one) => declaredKeyBody(one.project, one.key)),
        nameOf: ({ id }) => id,
        after,
        limit,
      })
    },
  })
}

function registerCreation(api: Api, dependencies: KeyDependencies): void {
  const { keyStore, peppers, newSecret } = dependencies
  api.post('/keys', {
    config: { permission: 'keys.create' },
    schema: {
      operationId: 'createKey',
      summary: 'Create a key, and its project if it does not exist',
      body: newKey,
      response: { 201: keyWithSecret, ...faultAnswers([400, 401, 403, 503]) },
    },
    handler: async (request, reply) => {
      const { project, name, secret: brought, ...terms } = request.body
      const caller = callerIn(request)
      visibleProjects(caller, project)
      refuseReserved(project)
      storedId({ project, name }, dependencies)
      checkModels(terms.models, dependencies.catalog())
      await checkWithinProject(caller, project, changeOf(terms), dependencies)
      if (terms.expires_at && Date.parse(terms.expires_at) <= dependencies.nowMs())
        throw invalidField(`expires_at: ${terms.expires_at} has passed.`, 'expires_at')
      if (brought !== undefined) await checkSecret(brought, dependencies)
      const secret = brought ?? newSecret()
      const made = await keyStore.createKey(
        { project, name, secret: digested(secret, peppers), ...changeOf(terms) },
        actorIn(request),
      )
      const shown = brought === undefined ? { secret } : {}
      return reply.code(201).send({ ...keyBody(made, peppers), ...shown })
    },
  })
}

function registerChange(api: Api, dependencies: KeyDependencies): void {
  const { keyStore, peppers } = dependencies
  api.patch('/keys/:project/:name', {
    config: { permission: 'keys.write' },
    schema: {
      operationId: 'setKey',
      summary: 'Change models, expiry, limits and budget of a key',
      params: keyPath,
      body: keyChange,
      response: { 200: key, ...faultAnswers([400, 401, 403, 404, 409, 503]) },
    },
    handler: async (request) => {
      const id = ownId(request, dependencies)
      const change = changeOf(request.body)
      checkModels(request.body.models, dependencies.catalog())
      await checkWithinProject(callerIn(request), request.params.project, change, dependencies)
      return keyBody(await keyStore.setKey(id, change, actorIn(request)), peppers)
    },
  })
}

function registerRotation(api: Api, dependencies: KeyDependencies): void {
  const { keyStore, peppers, newSecret } = dependencies
  api.post('/keys/:project/:name/rotate', {
    config: { permission: 'keys.write' },
    schema: {
      operationId: 'rotateKey',
      summary: 'Rotate a key: give it a new secret. The previous one stays valid for the overlap',
      params: keyPath,
      body: rotation,
      response: { 200: keyWithSecret, ...faultAnswers([400, 401, 403, 404, 409, 503]) },
    },
    handler: async (request) => {
      const id = ownId(request, dependencies)
      const secret = newSecret()
      const overlapMs = request.body.overlap_seconds * 1000
      const record = await keyStore.rotateKey(id, digested(secret, peppers), overlapMs, actorIn(request))
      return { ...keyBody(record, peppers), secret }
    },
  })
}

function registerRevocation(api: Api, dependencies: KeyDependencies): void {
  const { keyStore, peppers } = dependencies
  api.delete('/keys/:project/:name', {
    config: { permission: 'keys.write' },
    schema: {
      operationId: 'revokeKey',
      summary: 'Revoke a key, on every node within two seconds',
      params: keyPath,
      response: { 200: key, ...faultAnswers([400, 401, 403, 404, 409, 503]) },
    },
    handler: async (request) => {
      const id = ownId(request, dependencies)
      return keyBody(await keyStore.revokeKey(id, actorIn(request)), peppers)
    },
  })
}

/** The id of a stored key of a project that the caller may see. */
function ownId(
  request: Pick<FastifyRequest, 'getDecorator'> & {
    readonly params: { readonly project: string; readonly name: string }
  },
  dependencies: KeyDependencies,
): string {
  const { project, name } = request.params
  checkSeen(callerIn(request), project, `key ${project}/${name}`)
  return storedId(request.params, dependencies)
}

function digested(secret: string, { current }: Peppers): NewSecret {
  return { digest: current.digestOf(secret), pepper: current.id, tail: keyTail(secret) }
}
