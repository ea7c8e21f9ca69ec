/** Keys of the store are made, changed, rotated and revoked. Each answer is built from what was committed. */
import { isIP } from 'node:net'
import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import { addressRangeOf } from '#core/access/client-address.ts'
import { may } from '#core/access/permission.ts'
import { KEY_SCOPES } from '#core/catalog/key-bounds.ts'
import { keyTail } from '#core/keys/key.ts'
import type { KeyChange, KeyRecord, NewSecret } from '#ports/key-store.ts'
import { actorIn, callerIn, checkSeen, visibleProjects } from '../shared/caller.ts'
import { declared, invalidField, refuseReserved } from '../shared/faults.ts'
import { name, storable } from '../shared/fields.ts'
import type { ControlNode } from '../shared/node.ts'
import { declaredKeys } from '../shared/project-terms.ts'
import { route, type Api } from '../shared/route.ts'
import { termsChange, termsChangeOf } from '../shared/terms.ts'
import { changedKey, changedKeyBody, storedKey, type KeysNode } from './queries.ts'
import { checkModels, checkSecret, checkTighter, checkWithinProject } from './rules.ts'

/** Models of one key: it may need many, but a longer list is a mistake. */
const MAX_MODELS = 1000
/** Requests in progress at once. A node serves fewer, so more would bound nothing. */
const MAX_CALLS_AT_ONCE = 100_000
/** Addresses of one key: a longer list belongs into a firewall. */
const MAX_ADDRESSES = 100
/** Overlap of a rotation: a secret that leaked should not work for longer than a season. */
const MAX_OVERLAP_SECONDS = 90 * 86_400
/** A day is enough for a deployment, and short enough to be remembered. */
const DEFAULT_OVERLAP_SECONDS = 86_400

const moment = z
  .string()
  .regex(
    /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2}))?$/,
    'expected a day such as 2027-01-31 or a moment such as 2027-01-31T12:00:00Z',
  )
  .refine((text) => !Number.isNaN(Date.parse(text)), 'is no moment of the calendar')

const address = storable(50).refine(
  (text) => addressRangeOf(text, isIP) !== undefined,
  'expected an address or a network such as 192.0.2.7 or 10.0.0.0/8',
)

const keyTerms = {
  ...termsChange,
  models: z
    .array(storable(200).min(1))
    .min(1)
    .max(MAX_MODELS)
    .nullish()
    .describe('Ids or aliases. null: all.'),
  scopes: z
    .array(z.enum(KEY_SCOPES))
    .min(1)
    .nullish()
    .describe('What the key may be used for. null: everything.'),
  max_calls_at_once: z
    .int()
    .min(1)
    .max(MAX_CALLS_AT_ONCE)
    .nullish()
    .describe('Concurrent requests, on all nodes together. null: no maximum.'),
  addresses: z
    .array(address)
    .min(1)
    .max(MAX_ADDRESSES)
    .nullish()
    .describe('Addresses and networks that the key may be used from. null: everywhere.'),
  expires_at: moment
    .nullish()
    .describe('The key is refused from this moment on; a day means its start in UTC.'),
}

const keyChange = z.strictObject(keyTerms).meta({
  id: 'KeyChange',
  examples: [{ models: ['text-embedding-3-small'], limits: { requests_per_minute: 600 } }],
})
const newKey = z
  .strictObject({
    project: name,
    name,
    secret: z
      .string()
      .min(1)
      .max(1000)
      .optional()
      .describe('An existing key to import. Absent: Torana creates one.'),
    ...keyTerms,
  })
  .meta({
    id: 'NewKey',
    examples: [
      {
        project: 'search',
        name: 'website',
        models: ['demo-embed'],
        budget: { usd: 50, per: 'month', hard: true },
      },
    ],
  })

const keyWithSecret = changedKey
  .extend({
    secret: z.string().optional().describe('Shown only this once. Absent if you supplied it yourself.'),
  })
  .meta({ id: 'KeyWithSecret' })

const revocation = z.object({
  leaked: z
    .enum(['true', 'false'])
    .optional()
    .describe(
      'A stranger may have its secret: batches that it began are cancelled, and its uploads dropped. Otherwise its batches pause, until a person continues or cancels them. Image jobs that wait for their turn end in either case.',
    ),
})

const rotation = z
  .strictObject({
    overlap_seconds: z
      .int()
      .min(0)
      .max(MAX_OVERLAP_SECONDS)
      .default(DEFAULT_OVERLAP_SECONDS)
      .describe('How long the previous secret stays valid.'),
  })
  .meta({ id: 'Rotation', examples: [{ overlap_seconds: 86_400 }] })

const keyPath = z.object({ project: name, name })
type KeyPath = z.output<typeof keyPath>

export type ChangesNode = KeysNode & Pick<ControlNode, 'newSecret' | 'declaredCatalog'>

export function registerKeyChanges(api: Api, node: ChangesNode): void {
  registerCreation(api, node)
  registerTermsChange(api, node)
  registerSecretChanges(api, node)
}

function registerCreation(api: Api, node: ChangesNode): void {
  const { keyStore, newSecret, clock, declaredProjects, declaredCatalog } = node
  route(api, 'POST /keys', {
    permission: 'keys.create',
    id: 'createKey',
    summary: 'Create a key, and its project if it does not exist and you may create projects',
    body: newKey,
    answers: { 201: keyWithSecret },
    faults: [404, 409],
    handler: async (request, reply) => {
      const { project, name: keyName, secret: brought, ...terms } = request.body
      const caller = callerIn(request)
      visibleProjects(caller, project)
      refuseReserved(project)
      storedId(request.body, node)
      checkModels(terms.models, declaredCatalog())
      await checkWithinProject(caller, project, changeOf(terms), node)
      if (terms.expires_at && Date.parse(terms.expires_at) <= clock.nowMs())
        throw invalidField(`expires_at: ${terms.expires_at} has passed.`, 'expires_at')
      if (brought !== undefined) await checkSecret(brought, node)
      const secret = brought ?? newSecret()
      // The store has no row of a project that torana.yaml declares until it has a key of it.
      const isDeclared = declaredProjects().some((one) => one.name === project)
      const needsProject = !isDeclared && !may(caller.role, 'projects.write')
      const made = await keyStore.createKey(
        { project, name: keyName, needsProject, secret: digested(secret, node), ...changeOf(terms) },
        actorIn(request),
      )
      const shown = brought === undefined ? { secret } : {}
      return reply.code(201).send({ ...committed(made, node), ...shown })
    },
  })
}

function registerTermsChange(api: Api, node: ChangesNode): void {
  const { keyStore, declaredCatalog } = node
  route(api, 'PATCH /keys/:project/:name', {
    permission: 'keys.write',
    id: 'setKey',
    summary: 'Change models, expiry, limits and budget of a key. Loosening them needs keys.loosen',
    params: keyPath,
    body: keyChange,
    answer: changedKey,
    faults: [409],
    handler: async (request) => {
      const id = idIn(request, node)
      const change = changeOf(request.body)
      checkModels(request.body.models, declaredCatalog())
      const caller = callerIn(request)
      await checkWithinProject(caller, request.params.project, change, node)
      const check = may(caller.role, 'keys.loosen')
        ? undefined
        : (before: KeyRecord) => checkTighter(caller, before, change)
      return committed(await keyStore.setKey(id, change, actorIn(request), check), node)
    },
  })
}

function registerSecretChanges(api: Api, node: ChangesNode): void {
  const { keyStore, newSecret } = node
  route(api, 'POST /keys/:project/:name/rotate', {
    permission: 'keys.write',
    id: 'rotateKey',
    summary: 'Rotate a key: give it a new secret. The previous one stays valid for the overlap',
    params: keyPath,
    body: rotation,
    answer: keyWithSecret,
    faults: [409],
    handler: async (request) => {
      const id = idIn(request, node)
      const secret = newSecret()
      const overlapMs = request.body.overlap_seconds * 1000
      const record = await keyStore.rotateKey(id, digested(secret, node), overlapMs, actorIn(request))
      return { ...committed(record, node), secret }
    },
  })

  route(api, 'DELETE /keys/:project/:name/previous', {
    permission: 'keys.write',
    id: 'endOverlap',
    summary: 'End the overlap of a rotation now: the previous secret is refused within two seconds',
    params: keyPath,
    answer: changedKey,
    faults: [409],
    handler: async (request) =>
      committed(await keyStore.endOverlap(idIn(request, node), actorIn(request)), node),
  })

  route(api, 'DELETE /keys/:project/:name', {
    permission: 'keys.write',
    id: 'revokeKey',
    summary: 'Revoke a key, on every node within two seconds',
    params: keyPath,
    query: revocation,
    answer: changedKey,
    faults: [409],
    handler: async (request) => {
      const isLeaked = request.query.leaked === 'true'
      return committed(await keyStore.revokeKey(idIn(request, node), actorIn(request), isLeaked), node)
    },
  })
}

function changeOf(change: z.output<typeof keyChange>): KeyChange {
  const { models, expires_at: expiresAt, scopes, max_calls_at_once: maxCallsAtOnce, addresses } = change
  const expiresAtMs = typeof expiresAt === 'string' ? Date.parse(expiresAt) : expiresAt
  return { ...termsChangeOf(change), models, expiresAtMs, scopes, maxCallsAtOnce, addresses }
}

/** It asks no store: the secret in the answer is shown this once, and a revocation must not wait for reports. */
function committed(record: KeyRecord, node: ChangesNode): z.output<typeof changedKey> {
  return changedKeyBody(storedKey(record), node)
}

function digested(secret: string, { peppers: { current } }: ChangesNode): NewSecret {
  return { digest: current.digestOf(secret), pepper: current.id, tail: keyTail(secret) }
}

/** The id of a key of the store, of a project that the caller may see. */
function idIn(request: FastifyRequest<{ Params: KeyPath }>, node: ChangesNode): string {
  const { project, name: keyName } = request.params
  checkSeen(callerIn(request), project, `key ${project}/${keyName}`)
  return storedId(request.params, node)
}

/** A declared key can't be changed here. */
function storedId({ project, name: keyName }: KeyPath, { declaredProjects }: ChangesNode): string {
  const id = `${project}/${keyName}`
  if (declaredKeys(declaredProjects()).some((one) => one.id === id)) throw declared(`Key ${id}`)
  return id
}
