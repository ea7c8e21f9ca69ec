/** Upstreams and models of the store as one configuration: a preview of changes, saving them, their history, and the whole as torana.yaml. */
import { z } from 'zod'
import { Fault } from '#core/fault/fault.ts'
import type { SavedChange, StoredEntry, StoredObject } from '#ports/stored-configuration.ts'
import { actorIn, callerIn } from '../shared/caller.ts'
import { planOf, saveConfiguration } from '../shared/configuration.ts'
import type { Change } from '../shared/configuration-change.ts'
import { notFound } from '../shared/faults.ts'
import { pageLimit, pageOf, storable, time } from '../shared/fields.ts'
import { source, upstreamName } from '../shared/model-fields.ts'
import type { ControlNode } from '../shared/node.ts'
import { cursorPage } from '../shared/page.ts'
import { route, type Api } from '../shared/route.ts'
import { isoOf } from '../shared/times.ts'
import { callsOf, changeWithId, listHistory, type HistoryRow } from './queries.ts'
import { registerExport } from './export-routes.ts'
import { effect, effectsOf, isChangedSince, loadSummary, previewLine, reverseOf, textDiff } from './rules.ts'
import { registerRouting } from './routing-routes.ts'

/** Changes of one set: more than a person reviews. */
const MAX_CHANGES = 50
/** An entry as JSON. That of a model with fifty deployments has a tenth of it. */
const MAX_ENTRY_CHARACTERS = 100_000

const entry = z
  .record(z.string(), z.unknown())
  .refine(
    (value) => JSON.stringify(value).length <= MAX_ENTRY_CHARACTERS,
    `is longer than ${MAX_ENTRY_CHARACTERS} characters`,
  )
  .describe('As below `upstreams` or `models` of torana.yaml, with its names and values. Without a secret.')

const revision = z
  .string()
  .regex(/^\d{1,18}$/, 'expected a revision as answers have it')
  .describe('Another one after every change of the object.')

const modelId = z
  .string()
  .regex(/^[\x21-\x7e]{1,200}$/, 'a model id has 1 to 200 visible ASCII characters without spaces')

const common = {
  entry: entry.nullable().describe('null: delete it.'),
  base: revision.nullable().describe('The revision that you changed. null: the store has no such object.'),
}

const change = z
  .discriminatedUnion('object', [
    z.strictObject({
      object: z.literal('upstream'),
      name: upstreamName,
      rename_to: upstreamName
        .optional()
        .describe('It keeps its key, prices and space checks. The ledger keeps the old name.'),
      ...common,
    }),
    z.strictObject({ object: z.literal('model'), name: modelId, ...common }),
  ])
  .meta({ id: 'ConfigurationChange' })

const changeSet = z.strictObject({ changes: z.array(change).min(1).max(MAX_CHANGES) }).meta({
  id: 'ConfigurationChanges',
  examples: [
    {
      changes: [
        {
          object: 'model',
          name: 'bge-m3',
          entry: { deployments: [{ upstream: 'gpu-one', weight: 70 }] },
          base: '41',
        },
      ],
    },
  ],
})

const preview = z
  .object({
    changes: z.int().describe('Objects that would change.'),
    added: z.int().describe('Lines.'),
    removed: z.int(),
    lines: z
      .array(previewLine)
      .describe(
        'The changed lines of the exported torana.yaml with up to 30 around them. Where numbers leap, unchanged lines are left out.',
      ),
    is_cut: z.boolean().describe('There are more than 2,000 lines; these are the first.'),
    check: z.object({
      ok: z.boolean(),
      errors: z.array(
        z.object({
          object: z.enum(['upstream', 'model']),
          name: z.string(),
          message: z.string(),
          is_stale: z.boolean().describe('Another person changed the object since its base.'),
        }),
      ),
    }),
    effects: z.array(effect),
  })
  .meta({ id: 'ConfigurationPreview' })

const changedObject = z
  .object({
    object: z.enum(['upstream', 'model']),
    name: z.string(),
    renamed_from: z.string().nullable(),
    before: z.record(z.string(), z.unknown()).nullable().describe('null: it was not there.'),
    after: z.record(z.string(), z.unknown()).nullable().describe('null: it is deleted.'),
  })
  .meta({ id: 'ChangedObject' })

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
        'It can be taken back as it is. If only `changed_since` prevents it, open its reverse as a draft.',
      ),
  })
  .meta({ id: 'ConfigurationHistoryEntry' })

const history = pageOf(historyEntry).meta({ id: 'ConfigurationHistory' })
const historyQuery = z.object({ after: storable(60).optional(), limit: pageLimit })
const changePath = z.object({ id: revision })

type Body = z.output<typeof change>

export function registerConfiguration(api: Api, node: ControlNode): void {
  registerRouting(api, node)
  registerPreview(api, node)
  registerSaving(api, node)
  registerHistory(api, node)
  registerReverting(api, node)
  registerExport(api, node)
}

function registerPreview(api: Api, node: ControlNode): void {
  const { configuration, credentials, prices, exported, settings, reports, clock } = node
  route(api, 'POST /configuration/preview', {
    permission: 'upstreams.read',
    id: 'previewConfiguration',
    summary:
      'What changes of upstreams and models would do: lines of torana.yaml, problems and effects. Nothing is saved',
    body: changeSet,
    answer: preview,
    handler: async ({ body }) => {
      const changes = body.changes.map(changeOf)
      const [before, records, priced] = await Promise.all([
        configuration.read(),
        credentials.list(),
        prices.read(),
      ])
      const plan = planOf(node, before, changes)
      const sealed = records.filter(({ hasSecret }) => hasSecret).map(({ upstream }) => upstream)
      const parts = { prices: priced, credentials: sealed, projects: [] }
      const [was, is] = [
        await exported({ objects: before, ...parts }),
        await exported({ objects: plan.after, ...parts }),
      ]
      const models = plan.objects.filter(({ object }) => object === 'model').map(({ name }) => name)
      const calls = new Map<string, number>()
      for (const model of models)
        for (const [id, count] of await callsOf(reports, model, clock.nowMs())) calls.set(id, count)
      return {
        changes: plan.objects.length,
        ...textDiff(was, is, fileName(settings.configFile)),
        check: {
          ok: plan.problems.length === 0,
          errors: plan.problems.map(({ object, name, text, kind }) => ({
            object,
            name,
            message: text,
            is_stale: kind === 'stale',
          })),
        },
        effects: effectsOf(plan, { credentials: new Set(sealed), calls }),
      }
    },
  })
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

function registerHistory(api: Api, { configuration, reports, settings }: ControlNode): void {
  route(api, 'GET /configuration/changes', {
    permission: 'upstreams.read',
    id: 'listConfigurationChanges',
    summary: 'Changes of upstreams and models, here and in torana.yaml, newest first',
    query: historyQuery,
    answer: history,
    handler: async ({ query: { after, limit } }) => {
      const [rows, stored] = await Promise.all([listHistory(reports, after, limit + 1), configuration.read()])
      return cursorPage(rows, limit, {
        bodyOf: (row) => historyBody(row, stored, fileName(settings.configFile)),
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

function changeOf(body: Body): Change {
  const { object, name, base, entry: given } = body
  return {
    object,
    name,
    entry: given,
    base: base === null ? null : BigInt(base),
    ...('rename_to' in body && body.rename_to !== undefined && { renameTo: body.rename_to }),
  }
}

function changeBody({ object, name, entry: given, base, renameTo }: Change): Body {
  const fields = { name, entry: given && copied(given), base: base === null ? null : String(base) }
  if (object === 'model') return { object, ...fields }
  return { object, ...fields, ...(renameTo !== undefined && { rename_to: renameTo }) }
}

function objectBody({ object, name, renamedFrom = undefined, before, after }: HistoryRow['objects'][number]) {
  return {
    object,
    name,
    renamed_from: renamedFrom ?? null,
    before: before && copied(before),
    after: after && copied(after),
  }
}

function copied(given: StoredEntry): Record<string, unknown> {
  return { ...given }
}

function savedBody({ id, atMs, by, summary, objects }: SavedChange): z.output<typeof savedChange> {
  return { id: String(id), at: isoOf(atMs), by, summary, objects: objects.map(objectBody) }
}

function historyBody(
  row: HistoryRow,
  stored: readonly StoredObject[],
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
    revertible: id !== null && !isChanged,
  }
}

/** Its folder is not disclosed. */
function fileName(file: string | undefined): string {
  return file?.split(/[/\\]/).at(-1) ?? 'torana.yaml'
}
