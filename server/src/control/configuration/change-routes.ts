/** Saving changes, their history, and taking one back. */
import { z } from 'zod'
import { Fault } from '#core/fault/fault.ts'
import type { SavedChange, StoredObject } from '#ports/stored-configuration.ts'
import { actorIn, callerIn } from '../shared/caller.ts'
import { canSave, saveConfiguration } from '../shared/configuration.ts'
import { notFound } from '../shared/faults.ts'
import { givenTime, pageLimit, pageOf, time } from '../shared/fields.ts'
import { source } from '../shared/model-fields.ts'
import type { ControlNode } from '../shared/node.ts'
import { cursorPage } from '../shared/page.ts'
import { route, type Api } from '../shared/route.ts'
import { isoOf } from '../shared/times.ts'
import {
  change,
  changeBody,
  changedObject,
  changeOf,
  changeSet,
  fileName,
  objectBody,
  revision,
} from './change-rules.ts'
import { changeWithId, listHistory, type HistoryRow } from './queries.ts'
import { isChangedSince, loadSummary, reverseOf } from './rules.ts'

const savedChange = z
  .object({
    id: z.string().describe('Also the revision of each object that it changed.'),
    at: time,
    by: z.string(),
    summary: z.string(),
    objects: z.array(changedObject),
  })
  .meta({ id: 'SavedConfigurationChange' })

const historyEntry = z
  .object({
    id: z.string().nullable().describe('null: a load of torana.yaml.'),
    at: time,
    by: z.string().describe('A mail address, the name of a token, or torana.yaml.'),
    by_name: z.string().nullable().describe('The name of the member.'),
    source,
    summary: z.string(),
    objects: z.array(changedObject),
    reverts: z.string().nullable().describe('The change that it takes back.'),
    changed_since: z.boolean().describe('One of its objects changed later.'),
    revertible: z
      .boolean()
      .describe(
        'It can be taken back as it is now; deleted keys do not come back. If `changed_since` prevents it, open its reverse as a draft.',
      ),
  })
  .meta({ id: 'ConfigurationHistoryEntry' })

const history = pageOf(historyEntry).meta({ id: 'ConfigurationHistory' })
const historyQuery = z.object({
  after: givenTime.optional().describe('`next` of the page before.'),
  limit: pageLimit,
})
const changePath = z.object({ id: revision })

export function registerChanges(api: Api, node: ControlNode): void {
  registerSaving(api, node)
  registerHistory(api, node)
  registerReverting(api, node)
}

function registerSaving(api: Api, node: ControlNode): void {
  route(api, 'POST /configuration/changes', {
    permission: 'upstreams.write',
    id: 'changeConfiguration',
    summary: 'Save changes of upstreams and models, all or none. All nodes have them within two seconds',
    body: changeSet,
    answers: { 201: savedChange },
    faults: [409],
    handler: async (request, reply) => {
      await checkRights(request)
      const saved = await saveConfiguration(node, request.body.changes.map(changeOf), actorIn(request))
      await node.refreshCatalog()
      return reply.code(201).send(savedBody(saved))
    },
  })
}

function registerHistory(api: Api, node: ControlNode): void {
  const { configuration, reports, settings } = node
  route(api, 'GET /configuration/changes', {
    permission: 'upstreams.read',
    id: 'listConfigurationChanges',
    summary: 'Changes of upstreams and models, here and in torana.yaml, newest first',
    query: historyQuery,
    answer: history,
    handler: async ({ query: { after, limit } }) => {
      const [rows, stored] = await Promise.all([listHistory(reports, after, limit + 1), configuration.read()])
      return cursorPage(rows, limit, {
        bodyOf: (row) => historyBody(row, stored, node, fileName(settings.configFile)),
        cursorOf: ({ cursor }) => cursor,
      })
    },
  })
}

function registerReverting(api: Api, node: ControlNode): void {
  const { configuration, reports } = node
  const found = async (id: string) => {
    const row = await changeWithId(reports, BigInt(id))
    if (row === undefined) throw notFound(`There is no change ${id} in the history.`)
    return row
  }

  route(api, 'GET /configuration/changes/:id/reverse', {
    permission: 'upstreams.read',
    id: 'reverseOfChange',
    summary: 'The changes that would take one back, from what the store holds now',
    params: changePath,
    answer: z.object({ changes: z.array(change) }).meta({ id: 'ReverseChanges' }),
    handler: async ({ params }) => {
      const { objects } = await found(params.id)
      return { changes: reverseOf(objects, await configuration.read()).map(changeBody) }
    },
  })

  route(api, 'POST /configuration/changes/:id/revert', {
    permission: 'upstreams.write',
    id: 'revertChange',
    summary: 'Take a change back, which is a change itself. Refused when one of its objects changed since',
    params: changePath,
    answers: { 201: savedChange },
    faults: [409],
    handler: async (request, reply) => {
      await checkRights(request)
      const id = BigInt(request.params.id)
      const { objects } = await found(request.params.id)
      const stored = await configuration.read()
      if (isChangedSince(id, objects, stored)) throw changedSince(objects, stored)
      const saved = await saveConfiguration(node, reverseOf(objects, stored), actorIn(request), id)
      await node.refreshCatalog()
      return reply.code(201).send(savedBody(saved))
    },
  })
}

/** Rights may have been taken since the request began. */
async function checkRights(request: Parameters<typeof callerIn>[0]): Promise<void> {
  const { isInForce, actor } = callerIn(request)
  if ((await isInForce?.()) === false)
    throw new Fault('forbidden', `The rights of ${actor} have changed. Sign in again.`)
}

function changedSince(objects: HistoryRow['objects'], stored: readonly StoredObject[]): Fault {
  const latest = stored
    .filter((one) => objects.some(({ object, name }) => object === one.object && name === one.name))
    .toSorted((one, other) => other.atMs - one.atMs)[0]
  const what =
    latest === undefined
      ? 'One of its objects was deleted'
      : `${latest.by} changed the ${latest.object} ${latest.name} at ${isoOf(latest.atMs)}`
  return new Fault(
    'configuration_changed',
    `${what}. Open the reverse of this change as a draft, and save what is still right.`,
  )
}

function savedBody({ id, atMs, by, summary, objects }: SavedChange): z.output<typeof savedChange> {
  return { id: String(id), at: isoOf(atMs), by, summary, objects: objects.map(objectBody) }
}

function historyBody(
  row: HistoryRow,
  stored: readonly StoredObject[],
  node: ControlNode,
  file: string,
): z.output<typeof historyEntry> {
  const { id, at, by, by_name, summary, objects, loaded, reverts } = row
  const isChanged = id !== null && isChangedSince(BigInt(id), objects, stored)
  return {
    id,
    at,
    by,
    by_name,
    source: id === null ? { kind: 'file', file, line: 1 } : { kind: 'console' },
    summary: summary ?? loadSummary(loaded ?? {}),
    objects: objects.map(objectBody),
    reverts,
    changed_since: isChanged,
    revertible: id !== null && !isChanged && canSave(node, stored, reverseOf(objects, stored)),
  }
}
