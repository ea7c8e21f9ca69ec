/** Suspect windows: which vectors may be of another space, who got them, and their repair. */
import { z } from 'zod'
import { actorIn } from '../shared/caller.ts'
import { notFound } from '../shared/faults.ts'
import { listOf, pageLimit, pageOf, storable } from '../shared/fields.ts'
import type { ControlNode } from '../shared/node.ts'
import { cursorPage } from '../shared/page.ts'
import { route, type Api } from '../shared/route.ts'
import {
  listRepairs,
  listVectors,
  listWindows,
  suspectRepair,
  suspectVectors,
  suspectWindow,
} from './queries.ts'

const MAX_ID = 80

const windowsQuery = z.object({
  limit: z.coerce.number().int().min(1).max(200).default(50),
  after: storable(MAX_ID).optional(),
})

const windowPath = z.object({ id: storable(MAX_ID) })

const vectorsQuery = z.object({
  cursor: z.uuid().optional().describe('`next` of the page before.'),
  limit: pageLimit,
})

const windowList = listOf(suspectWindow).meta({ id: 'SuspectWindowList' })
const vectorList = pageOf(suspectVectors).meta({ id: 'SuspectVectorList' })
const repairList = z
  .object({ data: z.array(suspectRepair), has_more: z.literal(false) })
  .meta({ id: 'SuspectRepairList' })

export function registerSuspects(
  api: Api,
  { reports, suspects, repairSuspects }: Pick<ControlNode, 'reports' | 'suspects' | 'repairSuspects'>,
): void {
  route(api, 'GET /spaces/suspects', {
    permission: 'spaces.read',
    id: 'listSuspectWindows',
    summary: 'Times in which a deployment may have answered with vectors of another space, newest first',
    query: windowsQuery,
    answer: windowList,
    handler: async ({ query: { limit, after } }) => {
      const found = await listWindows(reports, { after, limit: limit + 1 })
      return { data: found.slice(0, limit), has_more: found.length > limit }
    },
  })

  route(api, 'GET /spaces/suspects/:id/vectors', {
    permission: 'spaces.read',
    id: 'listSuspectVectors',
    summary: 'The requests and lines of batches that got vectors of a suspect window, oldest first',
    params: windowPath,
    query: vectorsQuery,
    answer: vectorList,
    handler: async ({ params: { id }, query: { cursor, limit } }) => {
      if ((await suspects.find(id)) === undefined) throw unknownWindow(id)
      const found = await listVectors(reports, id, { after: cursor, limit: limit + 1 })
      return cursorPage(found, limit, { bodyOf: (one) => one, cursorOf: (one) => one.request_id })
    },
  })

  route(api, 'POST /spaces/suspects/:id/repair', {
    permission: 'spaces.accept',
    id: 'repairSuspects',
    summary:
      'Embed the lines of batches again that got vectors of a suspect window: one batch for each, under its key and budget. A second call returns the same',
    params: windowPath,
    answer: repairList,
    faults: [429],
    handler: async (request) => {
      const window = await suspects.find(request.params.id)
      if (window === undefined) throw unknownWindow(request.params.id)
      await repairSuspects(window, actorIn(request))
      return { data: await listRepairs(reports, window.id), has_more: false as const }
    },
  })
}

function unknownWindow(id: string): Error {
  return notFound(`There is no suspect window ${id}.`)
}
