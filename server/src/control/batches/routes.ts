/** Batches: progress and results, and how a person pauses, resumes or cancels one, or continues it without its key. */
import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { Actor } from '#ports/audit.ts'
import type { Batch, BatchState } from '#ports/batches.ts'
import type { Files, OutputFile } from '#ports/files.ts'
import { sendContent } from '#http/gateway/files/content.ts'
import { batchBody, batchState, reportedBatch } from '../shared/batch-fields.ts'
import { actorIn, callerIn, checkSeen, visibleProjects, type Caller } from '../shared/caller.ts'
import { notFound } from '../shared/faults.ts'
import { pageOf, storable } from '../shared/fields.ts'
import type { ControlNode } from '../shared/node.ts'
import { cursorPage } from '../shared/page.ts'
import { route, type Api } from '../shared/route.ts'
import { changeFeed, type EventTopic } from '../shared/topic.ts'
import { batchDetail, findBatch, listBatches, reportedBatchDetail } from './queries.ts'

const batchesQuery = z.object({
  project: storable(512).optional(),
  state: z
    .enum(['open', ...batchState.options])
    .optional()
    .describe('`open`: those that have not ended.'),
  limit: z.coerce.number().int().min(1).max(200).default(50),
  after: storable(80).optional(),
})

const batchPath = z.object({ id: storable(80) })

const pauseRequest = z
  .strictObject({ reason: storable(500).optional().describe('Shown to others, and kept in the audit.') })
  .optional()
  .meta({ id: 'BatchPauseRequest', examples: [{ reason: 'The index is being rebuilt.' }] })

const batchList = pageOf(reportedBatch).meta({ id: 'ReportedBatchList' })

const OPEN: readonly BatchState[] = ['in_progress', 'cancelling']

type BatchNode = Pick<ControlNode, 'reports' | 'clock' | 'batches' | 'files' | 'fileBlobs' | 'segmentsOf'>

export function registerBatches(api: Api, node: BatchNode): void {
  const { reports, batches, files, clock } = node
  const seen = async (id: string, caller: Caller): Promise<Batch> => {
    const found = await findBatch(reports, id)
    if (found === undefined) throw notFound(`There is no batch ${id}.`)
    checkSeen(caller, found.project, `batch ${id}`)
    return found
  }

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
      const batch = await seen(request.params.id, callerIn(request))
      return await batchDetail(reports, batch, clock.nowMs())
    },
  })

  const change = async (
    request: FastifyRequest<{ Params: z.output<typeof batchPath> }>,
    changed: (id: string, project: string, by: Actor) => Promise<Batch | undefined>,
  ): Promise<z.output<typeof reportedBatch>> => {
    const { id, project } = await seen(request.params.id, callerIn(request))
    const batch = await changed(id, project, actorIn(request))
    if (batch === undefined) throw notFound(`There is no batch ${id}.`)
    return batchBody(batch)
  }

  route(api, 'POST /batches/:id/cancel', {
    permission: 'batches.cancel',
    id: 'cancelBatch',
    summary: 'Begin nothing more of a batch. What is done is kept; nothing happens to one that has ended',
    params: batchPath,
    answer: reportedBatch,
    handler: (request) => change(request, (id, project, by) => batches.cancel(id, project, by)),
  })

  route(api, 'POST /batches/:id/continue', {
    permission: 'batches.continue',
    id: 'continueBatch',
    summary:
      'Let a batch go on whose key was revoked or has expired: from now on under the terms of its project. Nothing happens to one that was cancelled or has ended',
    params: batchPath,
    answer: reportedBatch,
    handler: (request) => change(request, (id, project, by) => batches.continue(id, project, by)),
  })

  route(api, 'POST /batches/:id/pause', {
    permission: 'batches.pause',
    id: 'pauseBatch',
    summary:
      'Begin nothing more of a batch until a person resumes it. Its window goes on; nothing happens to one that was cancelled or has ended',
    params: batchPath,
    body: pauseRequest,
    answer: reportedBatch,
    handler: (request) =>
      change(request, (id, project, by) => batches.pauseBy(id, project, by, request.body?.reason)),
  })

  route(api, 'POST /batches/:id/resume', {
    permission: 'batches.pause',
    id: 'resumeBatch',
    summary: 'End the pause of a batch, whether a person made it or Torana: it is tried at once',
    params: batchPath,
    answer: reportedBatch,
    handler: (request) => change(request, (id, project, by) => batches.resumeBy(id, project, by)),
  })

  for (const half of ['output', 'errors'] as const)
    route(api, `GET /batches/:id/${half}`, {
      permission: 'batches.read',
      id: half === 'output' ? 'batchOutput' : 'batchErrors',
      summary: `The ${half === 'output' ? 'output' : 'error'} file of a batch, whole or a range of it; of one that still runs, as far as it is there`,
      params: batchPath,
      answer: z.string().describe('JSON lines.'),
      handler: async (request, reply) => {
        const batch = await seen(request.params.id, callerIn(request))
        const file = await resultsOf(batch, half, files)
        await sendContent(request.raw, reply.raw, { file, requestId: request.id }, node)
        // The answer is written: the framework has nothing more to do.
        return reply.hijack()
      },
    })
}

async function resultsOf(
  { id, project, outputFileId, errorFileId }: Batch,
  half: 'output' | 'errors',
  files: Pick<Files, 'find'>,
): Promise<OutputFile> {
  const file = await files.find(half === 'output' ? outputFileId : errorFileId, project)
  if (file === undefined || file.source.kind !== 'batch')
    throw notFound(`Batch ${id} has no ${half === 'output' ? 'output' : 'error'} file.`)
  return { ...file, source: file.source }
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
