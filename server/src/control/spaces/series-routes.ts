/** The drift of a model's deployments over time: probes, and the worst of each slot. */
import { z } from 'zod'
import type { Catalog, EmbeddingModel } from '#core/catalog/catalog.ts'
import { notFound } from '../shared/faults.ts'
import { givenTime, storable } from '../shared/fields.ts'
import type { ControlNode } from '../shared/node.ts'
import { route, type Api } from '../shared/route.ts'
import { listProbes, listSlots, spaceProbe, spaceSlot } from './queries.ts'

/** Default page: four deployments for a day and a half, as a chart shows them. */
const POINTS = 600
const MAX_POINTS = 10_000
/** Length of a model's id. */
export const MAX_NAME = 400

export const spacePath = z.object({
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

/** The begin of a series that is asked for without `since`. */
const EPOCH = 0

export function registerSeries(
  api: Api,
  { catalog, reports }: Pick<ControlNode, 'catalog' | 'reports'>,
): void {
  route(api, 'GET /spaces/:model/series', {
    permission: 'spaces.read',
    id: 'spaceSeries',
    summary: 'The probes of the deployments of a model, newest first',
    description:
      'Every probe of all texts and images, and those of deployments in use that were outside the space.',
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
}

export function modelIn(catalog: Catalog, name: string): EmbeddingModel {
  const model = catalog.models.get(name)
  if (model?.kind !== 'embedding') throw notFound(`There is no embedding model ${name}.`)
  return model
}
