/** Batches: their progress, how people change them, and their results. */
import { z } from 'zod'
import type { BatchState } from '#ports/batches.ts'
import { batchState, reportedBatch } from '../shared/batch-fields.ts'
import { callerIn, visibleProjects } from '../shared/caller.ts'
import { pageOf, storable } from '../shared/fields.ts'
import type { ControlNode } from '../shared/node.ts'
import { cursorPage } from '../shared/page.ts'
import { route, type Api } from '../shared/route.ts'
import { changeFeed, type EventTopic } from '../shared/topic.ts'
import { registerBatchChanges } from './change-routes.ts'
import { registerBatchCreation } from './create-routes.ts'
import { batchPath, seenBatch } from './open.ts'
import { batchDetail, listBatches, reportedBatchDetail } from './queries.ts'
import { registerBatchResults } from './result-routes.ts'

const batchesQuery = z.object({
  project: storable(512).optional(),
  state: z
    .enum(['open', ...batchState.options])
    .optional()
    .describe('`open`: those that have not ended.'),
  limit: z.coerce.number().int().min(1).max(200).default(50),
  after: storable(80).optional(),
})

const batchList = pageOf(reportedBatch).meta({ id: 'ReportedBatchList' })

const OPEN: readonly BatchState[] = ['in_progress', 'cancelling']

type BatchNode = Pick<ControlNode, 'clock'> &
  Parameters<typeof registerBatchCreation>[1] &
  Parameters<typeof registerBatchResults>[1]

export function registerBatches(api: Api, node: BatchNode): void {
  const { reports, clock } = node

  route(api, 'GET /batches', {
    permission: 'batches.read',
    id: 'listBatches',
    summary: 'Batches, newest first: how far each is, and what it has cost so far',
    query: batchesQuery,
    answer: batchList,
    handler: async (request) => {
      const { project, state, limit, after } = request.query
      const states = state === undefined ? undefined : state === 'open' ? OPEN : [state]
      const projects = visibleProjects(callerIn(request), project)
      const found = await listBatches(reports, { projects, states, after, limit: limit + 1 })
      return cursorPage(found, limit, { bodyOf: (batch) => batch, cursorOf: ({ id }) => id })
    },
  })

  route(api, 'GET /batches/:id', {
    permission: 'batches.read',
    id: 'getBatch',
    summary: 'One batch: how fast it goes, and how its lines failed',
    params: batchPath,
    answer: reportedBatchDetail,
    handler: async (request) => {
      const batch = await seenBatch(request.params.id, callerIn(request), node)
      return await batchDetail(reports, batch, clock.nowMs())
    },
  })

  registerBatchCreation(api, node)
  registerBatchChanges(api, node)
  registerBatchResults(api, node)
}

/** Time for which the topic watches a batch that has ended, for streams that were slow. */
const ENDED_MS = 60_000
/** Batches that the topic watches. */
const MAX_WATCHED = 100

/** The progress of batches that have not ended, and the end of the others. */
export function batchTopic({ reports, clock }: Pick<ControlNode, 'reports' | 'clock'>): EventTopic {
  return {
    name: 'batch',
    permission: 'batches.read',
    open: ({ projects }) =>
      changeFeed(() =>
        listBatches(reports, { projects, openSinceMs: clock.nowMs() - ENDED_MS, limit: MAX_WATCHED }),
      ),
  }
}
