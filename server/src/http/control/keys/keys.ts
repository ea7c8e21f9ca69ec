/** Routes about keys: those of the store can be made, changed, rotated and revoked; declared ones are only listed. */
import type { Catalog, ConfiguredKey } from '#core/catalog.ts'
import { keyForm, keyTail, MIN_KEY_LENGTH, isMonotonous, MIN_DIFFERENT_CHARACTERS } from '#core/key.ts'
import { nearest } from '#core/nearest.ts'
import type { NewSecret, Peppers } from '#ports/key-store.ts'
import { faultAnswers } from '../../fault-answers.ts'
import type { KeyDependencies } from './dependencies.ts'
import { declared, invalidField, refuseReserved } from '../wire/faults.ts'
import { mergedPage } from '../wire/page.ts'
import { actorIn } from '../access/caller.ts'
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
      response: { 200: keyList, ...faultAnswers([400, 401, 503]) },
    },
    handler: async ({ query: { project, after, limit } }) => {
      const stored = await keyStore.listKeys({ project, after, limit: limit + 1 })
      const others = declaredKeys(dependencies).filter(
        (one) => project === undefined || one.project === project,
      )
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
      response: { 201: keyWithSecret, ...faultAnswers([400, 401, 503]) },
    },
    handler: async (request, reply) => {
      const { project, name, secret: brought, ...terms } = request.body
      refuseReserved(project)
      storedId({ project, name }, dependencies)
      checkModels(terms.models, dependencies.catalog())
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
      response: { 200: key, ...faultAnswers([400, 401, 404, 409, 503]) },
    },
    handler: async (request) => {
      const id = storedId(request.params, dependencies)
      checkModels(request.body.models, dependencies.catalog())
      return keyBody(await keyStore.setKey(id, changeOf(request.body), actorIn(request)), peppers)
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
      response: { 200: keyWithSecret, ...faultAnswers([400, 401, 404, 409, 503]) },
    },
    handler: async (request) => {
      const id = storedId(request.params, dependencies)
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
      response: { 200: key, ...faultAnswers([400, 401, 404, 409, 503]) },
    },
    handler: async (request) => {
      const id = storedId(request.params, dependencies)
      return keyBody(await keyStore.revokeKey(id, actorIn(request)), peppers)
    },
  })
}

interface DeclaredKey {
  readonly project: string
  readonly key: ConfiguredKey
}

function declaredKeys({ declared: projects }: Pick<KeyDependencies, 'declared'>): DeclaredKey[] {
  return projects().flatMap((project) => project.keys.map((one) => ({ project: project.name, key: one })))
}

/** The id of a key of the store. A declared key can't be changed here. */
function storedId(
  { project, name }: { readonly project: string; readonly name: string },
  dependencies: KeyDependencies,
): string {
  const id = `${project}/${name}`
  if (declaredKeys(dependencies).some((one) => one.project === project && one.key.name === name))
    throw declared(`Key ${id}`)
  return id
}

function digested(secret: string, { current }: Peppers): NewSecret {
  return { digest: current.digestOf(secret), pepper: current.id, tail: keyTail(secret) }
}

/** For a secret that the caller brings from elsewhere. */
async function checkSecret(secret: string, dependencies: KeyDependencies): Promise<void> {
  const form = keyForm(secret)
  if (form === 'too-short')
    throw invalidField(
      `secret: a key needs at least ${MIN_KEY_LENGTH} characters, because short ones can be guessed.`,
      'secret',
    )
  if (form === 'foreign' && isMonotonous(secret))
    throw invalidField(
      `secret: a key needs at least ${MIN_DIFFERENT_CHARACTERS} different characters, because repeated ones can be guessed.`,
      'secret',
    )
  if (form === 'bad-checksum')
    throw invalidField(
      'secret: starts like a Torana key, but its checksum is wrong. Was it cut off or mistyped?',
      'secret',
    )
  const taken = invalidField('secret: another key already has this secret. Each key needs its own.', 'secret')
  if (declaredKeys(dependencies).some((one) => one.key.secret === secret)) throw taken
  const { keyStore, peppers } = dependencies
  const previous = peppers.previous?.digestOf(secret)
  if (previous !== undefined && (await keyStore.findKey([previous]))) throw taken
}

function checkModels(models: readonly string[] | null | undefined, catalog: Catalog): void {
  for (const id of models ?? []) {
    if (catalog.models.has(id)) continue
    const near = nearest(id, [...catalog.models.keys()])
    throw invalidField(
      `models: there is no model ${id}.${near === undefined ? '' : ` Did you mean ${near}?`}`,
      'models',
    )
  }
}
