/** Routes of batches: how far each is, what came of it, telling one to stop, or to go on without its key. */
import { z } from 'zod'
import type { BatchReports, ReportedBatch } from '#ports/batch-reports.ts'
import type { Batches, BatchState } from '#ports/batches.ts'
import type { Files, OutputFile } from '#ports/files.ts'
import { faultAnswers } from '../../fault-answers.ts'
import { sendContent, type ContentOutside } from '../../gateway/files/content.ts'
import { actorIn, callerIn, checkSeen, visibleProjects, type Caller } from '../access/caller.ts'
import { notFound } from '../wire/faults.ts'
import { cursorPage } from '../wire/page.ts'
import type { Api } from '../wire/route.ts'
import { batchesQuery, batchList, batchPath, reportedBatch, reportedBatchDetail } from './schemas.ts'
import { batchBody, batchDetailBody } from './shapes.ts'

export interface BatchesDependencies extends ContentOutside {
  readonly reports: BatchReports
  readonly batches: Pick<Batches, 'cancel' | 'continue'>
  readonly files: Pick<Files, 'find'>
  readonly nowMs: () => number
}

const OPEN: readonly BatchState[] = ['in_progress', 'cancelling']

export function registerBatches(api: Api, dependencies: BatchesDependencies): void {
  const { reports, batches, nowMs } = dependencies
  api.get('/batches', {
    config: { permission: 'batches.read' },
    schema: {
      operationId: 'listBatches',
      summary: 'Batches, newest first: how far each is, and what it has cost so far',
      querystring: batchesQuery,
      response: { 200: batchList, ...faultAnswers([400, 401, 403, 503]) },
    },
    handler: async (request) => {
      const { project, state, limit, after } = request.query
      const states = state === undefined ? undefined : state === 'open' ? OPEN : [state]
      const filter = { projects: visibleProjects(callerIn(request), project), states }
      const found = await reports.list(filter, { limit: limit + 1, after })
      return cursorPage(found, limit, { bodyOf: batchBody, cursorOf: ({ id }) => id })
    },
  })

  api.get('/batches/:id', {
    config: { permission: 'batches.read' },
    schema: {
      operationId: 'getBatch',
      summary: 'One batch: how fast it goes, and how its lines failed',
      params: batchPath,
      response: { 200: reportedBatchDetail, ...faultAnswers([401, 404, 503]) },
    },
    handler: async (request) => {
      const batch = await seen(request.params.id, callerIn(request), reports)
      return batchDetailBody(batch, await reports.figures(batch, nowMs()), nowMs())
    },
  })

  api.post('/batches/:id/cancel', {
    config: { permission: 'batches.cancel' },
    schema: {
      operationId: 'cancelBatch',
      summary: 'Begin nothing more of a batch. What is done is kept; nothing happens to one that has ended',
      params: batchPath,
      response: { 200: reportedBatch, ...faultAnswers([401, 404, 503]) },
    },
    handler: async (request) => {
      const { id, project } = await seen(request.params.id, callerIn(request), reports)
      const cancelled = await batches.cancel(id, project, actorIn(request))
      if (cancelled === undefined) throw notFound(`There is no batch ${id}.`)
      return batchBody(cancelled)
    },
  })

  api.post('/batches/:id/continue', {
    config: { permission: 'batches.continue' },
    schema: {
      operationId: 'continueBatch',
      summary:
        'Let a batch go on whose key was revoked or has expired: from now on under the terms of its project. Nothing happens to one that was cancelled or has ended',
      params: batchPath,
      response: { 200: reportedBatch, ...faultAnswers([401, 403, 404, 503]) },
    },
    handler: async (request) => {
      const { id, project } = await seen(request.params.id, callerIn(request), reports)
      const continued = await batches.continue(id, project, actorIn(request))
      if (continued === undefined) throw notFound(`There is no batch ${id}.`)
      return batchBody(continued)
    },
  })

  for (const half of ['output', 'errors'] as const)
    api.get(`/batches/:id/${half}`, {
      config: { permission: 'batches.read' },
      schema: {
        operationId: half === 'output' ? 'batchOutput' : 'batchErrors',
        summary:
          half === 'output'
            ? 'The output file of a batch, whole or a range of it; of one that still runs, as far as it is there'
            : 'The error file of a batch, whole or a range of it; of one that still runs, as far as it is there',
        params: batchPath,
        response: { 200: z.string().describe('JSON lines.'), ...faultAnswers([401, 404, 503]) },
      },
      handler: async (request, reply) => {
        const batch = await seen(request.params.id, callerIn(request), reports)
        const file = await resultsOf(batch, half, dependencies)
        await sendContent(request.raw, reply.raw, { file, requestId: request.id }, dependencies)
        // The answer is written: the framework has nothing more to do.
        reply.hijack()
      },
    })
}

async function seen(id: string, caller: Caller, reports: BatchReports): Promise<ReportedBatch> {
  const found = await reports.find(id)
  if (found === undefined) throw notFound(`There is no batch ${id}.`)
  checkSeen(caller, found.project, `batch ${id}`)
  return found
}

async function resultsOf(
  { id, project, outputFileId, errorFileId }: ReportedBatch,
  half: 'output' | 'errors',
  { files }: BatchesDependencies,
): Promise<OutputFile> {
  const file = await files.find(half === 'output' ? outputFileId : errorFileId, project)
  if (file === undefined || file.source.kind !== 'batch')
    throw notFound(`Batch ${id} has no ${half === 'output' ? 'output' : 'error'} file.`)
  return { ...file, source: file.source }
}
