/** `GET /v1/models` and `/v1/models/{id}`: the models that this key may use. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { Catalog } from '#core/catalog/catalog.ts'
import type { Limits } from '#core/settings.ts'
import { recordOf } from '#request/request-record.ts'
import { faultAnswers } from '../../fault-answers.ts'
import type { ListenerDependencies } from '../caller/journey.ts'
import { keyOf } from '../caller/key-of.ts'
import { PREFIXES } from '../caller/routes.ts'
import { listModelObjects, oneModelObject, type ModelListing } from './objects.ts'
import { modelList, modelObject } from './schemas.ts'

export interface ModelsDependencies extends ListenerDependencies {
  readonly catalog: () => Catalog
  readonly limits: Limits
  readonly nameSpace: ModelListing['nameSpace']
}

export function registerModels(app: FastifyInstance, dependencies: ModelsDependencies): void {
  const { clientAddress, observer } = dependencies
  const listingFor = listingOf(dependencies)
  const answered = (request: FastifyRequest, reply: FastifyReply): void => {
    const { id: requestId } = request
    void reply.header('x-request-id', requestId)
    const address = clientAddress(request.raw)
    const durationMs = reply.elapsedTime
    observer.requestEnded(
      recordOf({ requestId, route: 'models', trace: undefined, clientAddress: address, durationMs }),
    )
  }
  for (const { prefix, hide } of PREFIXES) {
    app.get(`${prefix}/models`, {
      schema: {
        hide,
        operationId: 'listModels',
        summary: 'What this key may use',
        response: { 200: modelList, ...faultAnswers([401, 503], 'gateway') },
      },
      handler: async (request, reply) => {
        const models = listModelObjects(await listingFor(request))
        answered(request, reply)
        return models
      },
    })
    app.get(`${prefix}/models/*`, {
      schema: {
        hide,
        operationId: 'getModel',
        summary: 'One model',
        params: z.object({ '*': z.string() }),
        response: { 200: modelObject, ...faultAnswers([401, 403, 404, 503], 'gateway') },
      },
      handler: async (request, reply) => {
        const model = oneModelObject((request.params as { '*': string })['*'], await listingFor(request))
        answered(request, reply)
        return model
      },
    })
  }
}

/** The models that the presented key may see at this moment. */
function listingOf(dependencies: ModelsDependencies) {
  const { catalog, clock, nameSpace, limits } = dependencies
  const createdSeconds = Math.floor(clock.nowMs() / 1000)
  const { maxInputs, maxImages, maxEditPictures, editFileBytes } = limits
  return async ({ raw }: FastifyRequest): Promise<ModelListing> => ({
    key: await keyOf(raw, dependencies),
    catalog: catalog(),
    nameSpace,
    createdSeconds,
    maxInputs,
    maxImages,
    maxEditPictures,
    editFileBytes,
  })
}
