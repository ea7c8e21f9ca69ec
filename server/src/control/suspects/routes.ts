/** Suspect windows: which vectors may be of another space, and who got them. */
import { z } from 'zod'
import { notFound } from '../shared/faults.ts'
import { listOf, pageLimit, pageOf, storable } from '../shared/fields.ts'
import type { ControlNode } from '../shared/node.ts'
import { cursorPage } from '../shared/page.ts'
import { route, type Api } from '../shared/route.ts'
import { hasWindow, listVectors, listWindows, suspectVectors, suspectWindow } from './queries.ts'

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

export function registerSuspects(api: Api, { reports }: Pick<ControlNode, 'reports'>): void {
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
      if (!(await hasWindow(reports, id))) throw notFound(`There is no suspect window ${id}.`)
      const found = await listVectors(reports, id, { after: cursor, limit: limit + 1 })
      return cursorPage(found, limit, { bodyOf: (one) => one, cursorOf: (one) => one.request_id })
    },
  })
}
