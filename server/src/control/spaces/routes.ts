/** Vector spaces: the state of each deployment, its drift, and accepting another space. */
import { z } from 'zod'
import { listModels, type Catalog, type EmbeddingModel } from '#core/catalog/catalog.ts'
import { Fault } from '#core/fault/fault.ts'
import { actorIn } from '../shared/caller.ts'
import { conflict, invalidField, notFound } from '../shared/faults.ts'
import { givenTime, storable } from '../shared/fields.ts'
import type { ControlNode } from '../shared/node.ts'
import { route, type Api } from '../shared/route.ts'
import { calibrate, calibration, calibrationBody } from './calibration-rules.ts'
import { listPins, listProbes, listSlots, spaceProbe, spaceSlot } from './queries.ts'
import { probeBody, space, spaceBody } from './space-rules.ts'

/** Default page: four deployments for a day and a half, as a chart shows them. */
const POINTS = 600
const MAX_POINTS = 10_000
/** Length of a model's id. */
const MAX_NAME = 400

const spaceList = z.object({ data: z.array(space), has_more: z.literal(false) }).meta({ id: 'SpaceList' })

const spacePath = z.object({
  model: storable(MAX_NAME).min(1).describe('Its id or an alias; `/` is written `%2F`.'),
})

const seriesQuery = z.object({
  since: givenTime.optional().describe('Default: the oldest there is.'),
  limit: z.coerce.number().int().min(1).max(MAX_POINTS).default(POINTS),
})

const spaceSeries = z
  .object({
    data: z.array(spaceProbe),
    has_more: z.boolean().describe('There are older ones.'),
  })
  .meta({ id: 'SpaceSeries' })

const MAX_SLOT_SECONDS = 7 * 86_400
/** The shortest slot: a deployment is probed every 15 minutes. */
const MIN_SLOT_SECONDS = 900

const slotsQuery = z.object({
  since: givenTime.optional().describe('Default: the oldest there is.'),
  slot_seconds: z.coerce.number().int().min(MIN_SLOT_SECONDS).max(MAX_SLOT_SECONDS).default(7200),
  limit: z.coerce.number().int().min(1).max(MAX_POINTS).default(POINTS),
})

const spaceSlots = z
  .object({ data: z.array(spaceSlot), has_more: z.boolean().describe('There are older ones.') })
  .meta({ id: 'SpaceSlotList' })

const acceptance = z
  .strictObject({ deployment: storable(MAX_NAME).min(1) })
  .meta({ id: 'SpaceAcceptance', examples: [{ deployment: 'search-embed/a' }] })

/** The begin of a series that is asked for without `since`. */
const EPOCH = 0

type SpacesNode = Pick<ControlNode, 'catalog' | 'reports' | 'spaceGuard' | 'families' | 'clock'>

export function registerSpaces(
  api: Api,
  { catalog, reports, spaceGuard: guard, families, clock }: SpacesNode,
): void {
  route(api, 'GET /spaces', {
    permission: 'spaces.read',
    id: 'listSpaces',
    summary: 'The vector space of each embedding model, and the state of its deployments',
    answer: spaceList,
    handler: async () => {
      if (!guard.hasRead)
        throw new Fault(
          'store_unreachable',
          'This node has not read the vector spaces from PostgreSQL yet. Retry.',
        )
      const models = listModels(catalog()).filter((model) => model.kind === 'embedding')
      const pins = await listPins(reports, clock.nowMs())
      return {
        data: models.map((model) => spaceBody(model, { guard, families }, pins)),
        has_more: false as const,
      }
    },
  })

  route(api, 'GET /spaces/:model/series', {
    permission: 'spaces.read',
    id: 'spaceSeries',
    summary: 'All probes of the deployments of a model, newest first',
    params: spacePath,
    query: seriesQuery,
    answer: spaceSeries,
    handler: async ({ params, query: { since = EPOCH, limit } }) => {
      const { id } = modelIn(catalog(), params.model)
      const probes = await listProbes(reports, id, new Date(since), limit + 1)
      return { data: probes.slice(0, limit), has_more: probes.length > limit }
    },
  })

  route(api, 'GET /spaces/:model/slots', {
    permission: 'spaces.read',
    id: 'spaceSlots',
    summary: 'The worst probe of each slot of time, for charts over weeks, newest first',
    params: spacePath,
    query: slotsQuery,
    answer: spaceSlots,
    handler: async ({ params, query: { since = EPOCH, slot_seconds: slotSeconds, limit } }) => {
      const { id } = modelIn(catalog(), params.model)
      const slots = await listSlots(reports, id, new Date(since), slotSeconds, limit + 1)
      return { data: slots.slice(0, limit), has_more: slots.length > limit }
    },
  })
  registerActions(api, { catalog, spaceGuard: guard, families, clock })
}

function registerActions(
  api: Api,
  { catalog, spaceGuard: guard, families, clock }: Omit<SpacesNode, 'reports'>,
): void {
  route(api, 'POST /spaces/:model/accept', {
    permission: 'spaces.accept',
    id: 'acceptSpace',
    summary:
      'Accept the present space of a deployment as the space of the model. The space gets a new id; earlier vectors no longer match',
    params: spacePath,
    body: acceptance,
    answer: space,
    faults: [409],
    handler: async (request) => {
      const model = guardedIn(catalog(), request.params.model)
      const { deployment: wanted } = request.body
      const deployment = model.deployments.find(({ id }) => id === wanted)
      if (deployment === undefined)
        throw invalidField(
          `Model ${model.id} has no deployment ${wanted}. It has ${model.deployments.map(({ id }) => id).join(', ')}.`,
          'deployment',
        )
      await guard.accept(model, deployment, actorIn(request))
      // The space is new: no request has named it.
      return spaceBody(model, { guard, families }, [])
    },
  })

  route(api, 'POST /spaces/:model/calibrations', {
    permission: 'spaces.accept',
    id: 'calibrateSpace',
    summary:
      'Store the ranges by which Torana makes int8 and uint8 of the vectors of a model at one width. They never change; newer ones are another space',
    params: spacePath,
    body: calibrationBody,
    answer: calibration,
    faults: [409],
    handler: (request) =>
      calibrate(modelIn(catalog(), request.params.model), request.body, actorIn(request), {
        spaceGuard: guard,
        families,
        clock,
      }),
  })

  route(api, 'POST /spaces/:model/probe', {
    permission: 'spaces.probe',
    id: 'probeSpace',
    summary: 'Probe all deployments of a model now, instead of within 15 minutes',
    params: spacePath,
    answer: spaceSeries,
    faults: [409],
    handler: async ({ params }) => {
      const model = guardedIn(catalog(), params.model)
      const results = await guard.probeNow(model.id)
      await families.compareNow(model)
      return { data: results.map(probeBody), has_more: false }
    },
  })
}

function modelIn(catalog: Catalog, name: string): EmbeddingModel {
  const model = catalog.models.get(name)
  if (model?.kind !== 'embedding') throw notFound(`There is no embedding model ${name}.`)
  return model
}

/** A model that is not guarded has no reference, so accepting a space for it would mean nothing. */
function guardedIn(catalog: Catalog, name: string): EmbeddingModel {
  const model = modelIn(catalog, name)
  if (!model.isGuarded)
    throw conflict(`The space guard is off for ${model.id}: torana.yaml has spaceGuard: false.`)
  return model
}
