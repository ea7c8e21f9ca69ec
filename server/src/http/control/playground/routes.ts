/** The playground: the same journey as a caller's, under a project that the member may use, and billed to it. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { Key } from '#ports/keys.ts'
import { faultAnswers } from '../../fault-answers.ts'
import type { GatewayHandlers } from '../../gateway/handlers.ts'
import { embeddingAnswer, embeddingRequest } from '../../gateway/embeddings/schemas.ts'
import { imageAnswer, imageEditRequest, imageRequest } from '../../gateway/images/schemas.ts'
import { callerIn, visibleProjects, type Caller } from '../access/caller.ts'
import { notFound } from '../wire/faults.ts'
import type { Api } from '../wire/route.ts'
import { takeProject } from './named-project.ts'
import { playerKey, type PlayerDependencies } from './player.ts'

export interface PlaygroundDependencies extends PlayerDependencies {
  readonly handlers: GatewayHandlers
}

const FAULTS = [400, 401, 403, 404, 408, 412, 413, 415, 422, 424, 429, 500, 502, 503, 504]

const project = z
  .string()
  .describe('The project that pays, and whose limits hold. It must be the first field of the body.')

export function registerPlayground(api: Api, dependencies: PlaygroundDependencies): void {
  const playedBy = (kind: keyof GatewayHandlers) => ({
    config: { permission: 'playground.run' as const },
    onRequest: (request: FastifyRequest, reply: FastifyReply) => play(request, reply, kind, dependencies),
    handler: neverReached,
  })
  api.post('/playground/embeddings', {
    schema: {
      operationId: 'playEmbeddings',
      summary: 'Turn texts into vectors as a caller would; answers as POST /v1/embeddings does',
      body: embeddingRequest.extend({ project }).meta({ id: 'PlaygroundEmbeddings' }),
      response: { 200: embeddingAnswer, ...faultAnswers(FAULTS) },
    },
    ...playedBy('embeddings'),
  })
  api.post('/playground/images/generations', {
    schema: {
      operationId: 'playImages',
      summary: 'Make images as a caller would; answers as POST /v1/images/generations does, also as a stream',
      body: imageRequest.extend({ project }).meta({ id: 'PlaygroundImages' }),
      response: { 200: imageAnswer, ...faultAnswers(FAULTS) },
    },
    ...playedBy('generations'),
  })
  api.post('/playground/images/edits', {
    schema: {
      operationId: 'playEdits',
      summary: 'Edit images as a caller would; answers as POST /v1/images/edits does, also as a stream',
      consumes: ['multipart/form-data', 'application/json'],
      body: imageEditRequest.extend({ project }).meta({ id: 'PlaygroundEdits' }),
      response: { 200: imageAnswer, ...faultAnswers(FAULTS) },
    },
    ...playedBy('edits'),
  })
}

/** Takes the request from the framework before its body is read, as the gateway does. */
async function play(
  request: FastifyRequest,
  reply: FastifyReply,
  kind: keyof GatewayHandlers,
  dependencies: PlaygroundDependencies,
): Promise<void> {
  const key = await keyFor(callerIn(request), await takeProject(request.raw), dependencies)
  reply.hijack()
  reply.raw.setHeader('cache-control', 'no-store')
  reply.raw.setHeader('x-content-type-options', 'nosniff')
  await dependencies.handlers[kind](request.raw, reply.raw, undefined, key)
}

async function keyFor(caller: Caller, name: string, dependencies: PlaygroundDependencies): Promise<Key> {
  visibleProjects(caller, name)
  const key = await playerKey(caller, name, dependencies)
  if (key === undefined) throw notFound(`There is no project ${name.slice(0, 100)}.`)
  return key
}

function neverReached(): never {
  throw new Error('a request of the playground came back')
}
