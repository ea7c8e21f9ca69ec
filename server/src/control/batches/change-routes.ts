/** How a person pauses, resumes or cancels a batch, or continues it without its key. */
import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { Actor } from '#ports/audit.ts'
import type { Batch } from '#ports/batches.ts'
import { batchBody, reportedBatch } from '../shared/batch-fields.ts'
import { actorIn, callerIn } from '../shared/caller.ts'
import { notFound } from '../shared/faults.ts'
import { storable } from '../shared/fields.ts'
import type { ControlNode } from '../shared/node.ts'
import { route, type Api } from '../shared/route.ts'
import { batchPath, seenBatch } from './open.ts'

const pauseRequest = z
  .strictObject({ reason: storable(500).optional().describe('Shown to others, and kept in the audit.') })
  .optional()
  .meta({ id: 'BatchPauseRequest', examples: [{ reason: 'The index is being rebuilt.' }] })

export function registerBatchChanges(api: Api, node: Pick<ControlNode, 'reports' | 'batches'>): void {
  const { batches } = node
  const change = async (
    request: FastifyRequest<{ Params: z.output<typeof batchPath> }>,
    changed: (id: string, project: string, by: Actor) => Promise<Batch | undefined>,
  ): Promise<z.output<typeof reportedBatch>> => {
    const { id, project } = await seenBatch(request.params.id, callerIn(request), node)
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
}
