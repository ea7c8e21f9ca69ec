/** `POST /v1/embeddings`. */
import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { faultAnswers } from '../../fault-answers.ts'
import type { RequestHandler } from '../caller/journey.ts'
import { PREFIXES, handledBy, handledByEnd } from '../caller/routes.ts'
import { embeddingAnswer, embeddingRequest, pathEmbeddingRequest } from './schemas.ts'

const FAULTS = [400, 401, 403, 404, 408, 412, 413, 415, 429, 500, 502, 503, 504]

export function registerEmbeddings(app: FastifyInstance, embeddings: RequestHandler): void {
  for (const { prefix, hide } of PREFIXES) {
    app.post(`${prefix}/embeddings`, {
      schema: {
        hide,
        operationId: 'createEmbeddings',
        summary: 'Turn texts, images and other contents into vectors',
        body: embeddingRequest,
        response: { 200: embeddingAnswer, ...faultAnswers(FAULTS, 'gateway') },
      },
      ...handledBy(embeddings),
    })
    app.post(`${prefix}/engines/*`, {
      schema: {
        hide,
        operationId: 'createEngineEmbeddings',
        summary: 'The same; the path names the model',
        params: z.object({ '*': z.string() }),
        body: pathEmbeddingRequest,
        response: { 200: embeddingAnswer, ...faultAnswers(FAULTS, 'gateway') },
      },
      ...handledByEnd(false, { '/embeddings': embeddings }),
    })
  }
}

/** The schema of Azure's spelling, which leads to images as well. */
export const deploymentSchema = {
  operationId: 'createDeploymentEmbeddings',
  summary:
    "Azure's spelling: the model is named in the path, the body's is ignored; so for /images/generations and /images/edits",
  params: z.object({ '*': z.string() }),
  body: pathEmbeddingRequest,
  response: { 200: embeddingAnswer, ...faultAnswers(FAULTS, 'gateway') },
}
