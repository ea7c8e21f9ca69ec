/** Routes that keep upstreams in the store, change them and take them away. */
import type { Upstream } from '#core/catalog.ts'
import { addressOf } from '#core/upstream-address.ts'
import type { CredentialRecord } from '#ports/credentials.ts'
import { faultAnswers } from '../../fault-answers.ts'
import { actorIn } from '../access/caller.ts'
import { noContent } from '../keys/schemas.ts'
import { conflict, notFound } from '../wire/faults.ts'
import type { Api } from '../wire/route.ts'
import { upstreamBody } from './bodies.ts'
import { builtUpstream, entryOf, freeName, mergedEntry } from './entries.ts'
import type { UpstreamsDependencies } from './routes.ts'
import { newUpstream, upstream, upstreamChange, upstreamPath } from './schemas.ts'

export function registerUpstreamChanges(api: Api, dependencies: UpstreamsDependencies): void {
  const { catalog, upstreams, credentials, offers, inForce } = dependencies

  const credentialOf = async (name: string): Promise<CredentialRecord | undefined> =>
    (await credentials.list()).find((record) => record.upstream === name)
  /** From what was committed: no store is asked again, so a committed change is never answered with an error. */
  const committed = (built: Upstream, credential: CredentialRecord | undefined) =>
    upstreamBody({ upstream: built, managedBy: 'store' }, credential, catalog())

  api.post('/upstreams', {
    config: { permission: 'upstreams.write' },
    schema: {
      operationId: 'createUpstream',
      summary: 'Keep an upstream and its credential in the store',
      body: newUpstream,
      response: { 201: upstream, ...faultAnswers([400, 401, 403, 409, 503]) },
    },
    handler: async (request, reply) => {
      const { name: wanted, secret, ...given } = request.body
      const actor = actorIn(request)
      const name = wanted ?? freeName(given, catalog())
      const entry = entryOf(given)
      const built = builtUpstream(offers, name, entry)
      const baseUrl = addressOf(built)
      const declared = catalog().upstreams?.get(name)
      if (declared !== undefined && declared.managedBy !== 'store')
        throw conflict(
          `Upstream ${name} is declared at ${declared.managedBy}, which comes first. Choose another name.`,
        )
      const before = await credentialOf(name)
      await upstreams.addUpstream({ name, entry }, actor)
      const credential =
        secret === undefined ? before : await credentials.put({ upstream: name, baseUrl, secret }, actor)
      await inForce()
      return reply.code(201).send(committed(built, credential))
    },
  })

  api.patch('/upstreams/:name', {
    config: { permission: 'upstreams.write' },
    schema: {
      operationId: 'changeUpstream',
      summary: 'Change an upstream of the store, or its credential',
      params: upstreamPath,
      body: upstreamChange,
      response: { 200: upstream, ...faultAnswers([400, 401, 403, 404, 409, 503]) },
    },
    handler: async (request) => {
      const { name } = request.params
      const { secret, ...given } = request.body
      const actor = actorIn(request)
      const stored = await storedIn(dependencies, name)
      const changed = entryOf(given)
      const entry = mergedEntry(stored.entry, changed)
      const built = builtUpstream(offers, name, entry)
      const baseUrl = addressOf(built)
      let credential = await credentialOf(name)
      if (Object.keys(changed).length > 0) {
        await upstreams.changeUpstream({ name, entry }, actor)
        credential = await credentials.setBaseUrl(name, baseUrl, actor)
      }
      if (secret === null) credential = await credentials.drop(name, actor)
      else if (secret !== undefined)
        credential = await credentials.put({ upstream: name, baseUrl, secret }, actor)
      await inForce()
      return committed(built, credential)
    },
  })

  api.delete('/upstreams/:name', {
    config: { permission: 'upstreams.write' },
    schema: {
      operationId: 'deleteUpstream',
      summary: 'Take an upstream of the store away, with its credential. No model may run on it any more',
      params: upstreamPath,
      response: { 204: noContent, ...faultAnswers([401, 403, 404, 409, 503]) },
    },
    handler: async (request, reply) => {
      const { name } = request.params
      await storedIn(dependencies, name)
      await upstreams.dropUpstream(name, actorIn(request))
      await inForce()
      return reply.code(204).send()
    },
  })
}

/** Only what the store manages can be changed here. */
async function storedIn({ catalog, upstreams }: UpstreamsDependencies, name: string) {
  const stored = (await upstreams.read()).upstreams.find((one) => one.name === name)
  const declared = catalog().upstreams?.get(name)
  if (declared !== undefined && declared.managedBy !== 'store')
    throw conflict(`Upstream ${name} is declared at ${declared.managedBy}. Change it there.`)
  if (stored === undefined) throw notFound(`There is no upstream ${name}.`)
  return stored
}
