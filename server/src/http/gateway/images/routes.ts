/** `/v1/images`: images are made and edited, jobs are followed, and their images are read. */
import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { faultAnswers } from '../../fault-answers.ts'
import type { RequestHandler } from '../caller/journey.ts'
import { PREFIXES, handledBy } from '../caller/routes.ts'
import { idIn, streamedBy } from '../caller/served.ts'
import { serveAsset, type AssetDependencies } from './assets.ts'
import type { ImagesDependencies } from './images.ts'
import { serveJob } from './jobs.ts'
import { imageAnswer, imageEditRequest, imageJob, imageRequest } from './schemas.ts'

const FAULTS = [400, 401, 403, 404, 408, 413, 415, 422, 424, 429, 500, 502, 503, 504]

interface ImageHandlers {
  readonly generations: RequestHandler
  readonly edits: RequestHandler
}

export function registerImages(app: FastifyInstance, { generations, edits }: ImageHandlers): void {
  const response = { 200: imageAnswer, 202: imageJob, ...faultAnswers(FAULTS, 'gateway') }
  for (const { prefix, hide } of PREFIXES) {
    app.post(`${prefix}/images/generations`, {
      schema: {
        hide,
        operationId: 'createImages',
        summary: 'Make images from a prompt',
        body: imageRequest,
        response,
      },
      ...handledBy(generations),
    })
    app.post(`${prefix}/images/edits`, {
      schema: {
        hide,
        operationId: 'editImages',
        summary: 'Edit images with a prompt',
        consumes: ['multipart/form-data', 'application/json'],
        body: imageEditRequest,
        response,
      },
      ...handledBy(edits),
    })
  }
}

export function registerImageJobs(app: FastifyInstance, dependencies: ImagesDependencies): void {
  for (const { prefix, hide } of PREFIXES) {
    app.get(`${prefix}/images/jobs/:id`, {
      schema: {
        hide,
        operationId: 'getImageJob',
        summary: 'State and result of an image job',
        params: z.object({ id: z.string() }),
        response: { 200: imageJob, ...faultAnswers([401, 404, 503], 'gateway') },
      },
      ...streamedBy(dependencies, 'image-jobs', (request, response) =>
        serveJob(request.raw, response, idIn(request), request.id, dependencies),
      ),
    })
  }
}

export function registerAssets(app: FastifyInstance, dependencies: AssetDependencies): void {
  for (const { prefix, hide } of PREFIXES) {
    app.get(`${prefix}/assets/:id`, {
      schema: {
        hide,
        operationId: 'getAsset',
        summary: 'A stored image, by a signed link or with a key of its project',
        params: z.object({ id: z.string() }),
        querystring: z.object({ exp: z.string().optional(), sig: z.string().optional() }),
        response: {
          200: z.any().describe('The bytes.'),
          ...faultAnswers([400, 401, 403, 404, 410, 503], 'gateway'),
        },
      },
      ...streamedBy(dependencies, 'assets', (request, response) => {
        const { searchParams: query } = new URL(request.url, 'http://gateway')
        return serveAsset(request.raw, response, { assetId: idIn(request), query }, request.id, dependencies)
      }),
    })
  }
}
