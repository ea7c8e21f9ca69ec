/** `/v1/batches`: the requests of a file, run in the background. */
import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { faultAnswers } from '../../fault-answers.ts'
import { handledBy, PREFIXES } from '../caller/routes.ts'
import { servedBy } from '../caller/served.ts'
import { batchAnswer, batchesAnswer, createBatchHandler, type BatchesDependencies } from './batches.ts'
import { batchList, batchObject, batchRequest } from './schemas.ts'

const AS_BATCHES = { route: 'batches' }

export function registerBatches(app: FastifyInstance, dependencies: BatchesDependencies): void {
  const create = createBatchHandler(dependencies)
  const params = z.object({ id: z.string() })
  for (const { prefix, hide } of PREFIXES) {
    app.post(`${prefix}/batches`, {
      schema: {
        hide,
        operationId: 'createBatch',
        summary: 'Run the requests of a file in the background',
        body: batchRequest,
        response: {
          200: batchObject,
          ...faultAnswers([400, 401, 403, 404, 408, 413, 415, 422, 429, 503], 'gateway'),
        },
      },
      ...handledBy(create),
    })
    app.get(`${prefix}/batches`, {
      schema: {
        hide,
        operationId: 'listBatches',
        summary: 'Batches of the project, newest first',
        querystring: z.object({ after: z.string().optional(), limit: z.string().optional() }),
        response: { 200: batchList, ...faultAnswers([400, 401, 404, 503], 'gateway') },
      },
      ...servedBy(dependencies, AS_BATCHES, (asked) => batchesAnswer(asked, dependencies)),
    })
    app.get(`${prefix}/batches/:id`, {
      schema: {
        hide,
        operationId: 'getBatch',
        summary: 'How far a batch is',
        params,
        response: { 200: batchObject, ...faultAnswers([401, 404, 503], 'gateway') },
      },
      ...servedBy(dependencies, AS_BATCHES, (asked) => batchAnswer(asked, 'find', dependencies)),
    })
    app.post(`${prefix}/batches/:id/cancel`, {
      schema: {
        hide,
        operationId: 'cancelBatch',
        summary: 'Begin nothing more of a batch; what is done is kept',
        params,
        response: { 200: batchObject, ...faultAnswers([401, 404, 503], 'gateway') },
      },
      ...servedBy(dependencies, AS_BATCHES, (asked) => batchAnswer(asked, 'cancel', dependencies)),
    })
  }
}
