/** Routes about keys: those of the store can be made, changed, rotated and revoked; declared ones are only listed. */
import type { FastifyRequest } from 'fastify'
import type { z } from 'zod'
import type { KeyState } from '#core/key-hygiene.ts'
import { cursorOf, placeOf, rankIn, type KeyOrder, type KeyPlace } from '#core/key-order.ts'
import { keyTail } from '#core/key.ts'
import { may } from '#core/permission.ts'
import type { KeyRecord, NewSecret, Peppers } from '#ports/key-store.ts'
import { faultAnswers } from '../../fault-answers.ts'
import type { KeyDependencies } from './dependencies.ts'
import {
  checkModels,
  checkSecret,
  checkTighter,
  checkWithinProject,
  declaredKeys,
  storedId,
} from './checks.ts'
import { invalidField, notFound, refuseReserved } from '../wire/faults.ts'
import { mergedPage } from '../wire/page.ts'
import { actorIn, callerIn, checkSeen, visibleProjects } from '../access/caller.ts'
import type { Api } from '../wire/route.ts'
import {
  changedKey,
  declaredKeyPath,
  key,
  keyChange,
  keyList,
  keyPage,
  keyPath,
  keyWithSecret,
  newKey,
  revocation,
  rotation,
} from './schemas.ts'
import { changedKeyBody, keyChange as changeOf } from './shapes.ts'
import { keyBodies, momentsOf, shownDeclared, storedKey } from './views.ts'

export function registerKeys(api: Api, dependencies: KeyDependencies): void {
  registerList(api, dependencies)
  registerCreation(api, dependencies)
  registerChange(api, dependencies)
  registerRotation(api, dependencies)
  registerEndOfOverlap(api, dependencies)
  registerRevocation(api, dependencies)
}

function registerList(api: Api, dependencies: KeyDependencies): void {
  const { keyStore, peppers } = dependencies
  api.get('/keys', {
    config: { permission: 'keys.read' },
    schema: {
      operationId: 'listKeys',
      summary: 'Keys, in one of three orders',
      querystring: keyPage,
      response: { 200: keyList, ...faultAnswers([400, 401, 403, 503]) },
    },
    handler: async (request) => {
      const { project, q = '', state: is, sort: order, limit } = request.query
      const after = placeIn(order, request.query.after)
      const moment = { nowMs: dependencies.nowMs(), pepper: peppers.current.id }
      const filter = { projects: visibleProjects(callerIn(request), project), text: q.replace(/^…/, '') }
      const state = is && { is, ...moment }
      const stored = await keyStore.listKeys({ ...filter, state, order, after, limit: limit + 1 })
      const counts = await keyStore.countKeys({ ...filter, ...moment })
      const declared = await shownDeclared(filter, state, dependencies)
      const page = mergedPage({
        stored: stored.map(storedKey),
        declared: declared.keys,
        nameOf: ({ id }) => id,
        rankOf: (shown) => rankIn(order, momentsOf(shown, declared.uses)),
        after,
        limit,
      })
      const last = page.data.at(-1)
      const count = (one: KeyState): number =>
        counts[one] + declared.states.filter((other) => other === one).length
      return {
        data: await keyBodies(page.data, dependencies),
        has_more: page.has_more,
        next:
          page.has_more && last
            ? cursorOf(order, { rank: rankIn(order, momentsOf(last, declared.uses)), id: last.id })
            : null,
        counts: {
          active: count('active'),
          ending: count('ending'),
          tidy: count('tidy'),
          revoked: count('revoked'),
        },
      }
    },
  })

  api.get('/keys/:project/:name', {
    config: { permission: 'keys.read' },
    schema: {
      operationId: 'getKey',
      summary: 'One key',
      params: declaredKeyPath,
      response: { 200: key, ...faultAnswers([400, 401, 403, 404, 503]) },
    },
    handler: async (request) => {
      const { project, name } = request.params
      const id = `${project}/${name}`
      checkSeen(callerIn(request), project, `key ${id}`)
      const declared = declaredKeys(dependencies).find(
        (one) => one.project === project && one.key.name === name,
      )
      const [record] =
        declared === undefined ? await keyStore.listKeys({ projects: [project], ids: [id], limit: 1 }) : []
      const shown = declared
        ? { managed_by: 'configuration' as const, id, declared }
        : record && storedKey(record)
      const [body] = shown === undefined ? [] : await keyBodies([shown], dependencies)
      if (body === undefined) throw notFound(`There is no key ${id}.`)
      return body
    },
  })
}

function placeIn(order: KeyOrder, after: string | undefined): KeyPlace | undefined {
  if (after === undefined) return undefined
  const place = placeOf(order, after)
  if (place === undefined) throw invalidField('`after` is not the `next` of a page in this order.', 'after')
  return place
}

function registerCreation(api: Api, dependencies: KeyDependencies): void {
  const { keyStore, peppers, newSecret } = dependencies
  api.post('/keys', {
    config: { permission: 'keys.create' },
    schema: {
      operationId: 'createKey',
      summary: 'Create a key, and its project if it does not exist and you may create projects',
      body: newKey,
      response: { 201: keyWithSecret, ...faultAnswers([400, 401, 403, 404, 409, 503]) },
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
      // The store has no row of a project that torana.yaml declares until it has a key of it.
      const isDeclared = dependencies.declared().some((one) => one.name === project)
      const needsProject = !isDeclared && !may(caller.role, 'projects.write')
      const made = await keyStore.createKey(
        { project, name, needsProject, secret: digested(secret, peppers), ...changeOf(terms) },
        actorIn(request),
      )
      const shown = brought === undefined ? { secret } : {}
      return reply.code(201).send({ ...committed(made, dependencies), ...shown })
    },
  })
}

function registerChange(api: Api, dependencies: KeyDependencies): void {
  const { keyStore } = dependencies
  api.patch('/keys/:project/:name', {
    config: { permission: 'keys.write' },
    schema: {
      operationId: 'setKey',
      summary: 'Change models, expiry, limits and budget of a key. Loosening them needs keys.loosen',
      params: keyPath,
      body: keyChange,
      response: { 200: changedKey, ...faultAnswers([400, 401, 403, 404, 409, 503]) },
    },
    handler: async (request) => {
      const id = ownId(request, dependencies)
      const change = changeOf(request.body)
      checkModels(request.body.models, dependencies.catalog())
      const caller = callerIn(request)
      await checkWithinProject(caller, request.params.project, change, dependencies)
      const check = may(caller.role, 'keys.loosen')
        ? undefined
        : (before: KeyRecord) => checkTighter(caller, before, change)
      return committed(await keyStore.setKey(id, change, actorIn(request), check), dependencies)
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
      return { ...committed(record, dependencies), secret }
    },
  })
}

function registerEndOfOverlap(api: Api, dependencies: KeyDependencies): void {
  api.delete('/keys/:project/:name/previous', {
    config: { permission: 'keys.write' },
    schema: {
      operationId: 'endOverlap',
      summary: 'End the overlap of a rotation now: the previous secret is refused within two seconds',
      params: keyPath,
      response: { 200: changedKey, ...faultAnswers([400, 401, 403, 404, 409, 503]) },
    },
    handler: async (request) => {
      const id = ownId(request, dependencies)
      return committed(await dependencies.keyStore.endOverlap(id, actorIn(request)), dependencies)
    },
  })
}

function registerRevocation(api: Api, dependencies: KeyDependencies): void {
  const { keyStore } = dependencies
  api.delete('/keys/:project/:name', {
    config: { permission: 'keys.write' },
    schema: {
      operationId: 'revokeKey',
      summary: 'Revoke a key, on every node within two seconds',
      params: keyPath,
      querystring: revocation,
      response: { 200: changedKey, ...faultAnswers([400, 401, 403, 404, 409, 503]) },
    },
    handler: async (request) => {
      const id = ownId(request, dependencies)
      const isLeaked = request.query.leaked === 'true'
      return committed(await keyStore.revokeKey(id, actorIn(request), isLeaked), dependencies)
    },
  })
}

/** The answer to a change. It asks no store: the secret in it is shown this once, and a revocation must not wait for reports. */
function committed(record: KeyRecord, { peppers, nowMs }: KeyDependencies): z.output<typeof changedKey> {
  return changedKeyBody(record, peppers, nowMs())
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
