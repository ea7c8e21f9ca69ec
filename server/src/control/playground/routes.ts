/** The playground: requests as a caller would send them, under a project that the member may use and that pays for them. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import {
  upload,
  uploadCompletion,
  uploadPart,
  uploadPartForm,
  uploadRequest,
} from '#http/gateway/files/schemas.ts'
import type { UploadHandlers } from '#http/gateway/files/upload-routes.ts'
import type { GatewayHandlers } from '#http/gateway/handlers.ts'
import { embeddingAnswer, embeddingRequest } from '#http/gateway/embeddings/schemas.ts'
import { imageAnswer, imageEditRequest, imageRequest } from '#http/gateway/images/schemas.ts'
import type { Key } from '#ports/keys.ts'
import { callerIn, visibleProjects } from '../shared/caller.ts'
import { storable } from '../shared/fields.ts'
import type { ControlNode } from '../shared/node.ts'
import { route, type Api } from '../shared/route.ts'
import { findOwnKey, type PlayersNode } from '../shared/players.ts'
import { takeProject } from './project-rules.ts'

type PlaygroundNode = PlayersNode & Pick<ControlNode, 'handlers' | 'uploads'>

const FAULTS = [400, 401, 403, 404, 408, 412, 413, 415, 422, 424, 429, 500, 502, 503, 504]

/** As callers of the gateway present their key; `authorization` is the session's or the token's here. */
const KEY_HEADER = 'x-api-key'

const DESCRIPTION = `With \`${KEY_HEADER}: <secret of a key>\` the request runs as that key's own: its models, limits and budget apply, and its project pays.`

const uploadPath = z.object({ id: storable(80) })

const project = z
  .string()
  .describe('The project that pays, and whose limits hold. It must be the first field of the body.')

export function registerPlayground(api: Api, node: PlaygroundNode): void {
  const playedBy = (kind: keyof GatewayHandlers) => ({
    permission: 'playground.run' as const,
    description: DESCRIPTION,
    faults: FAULTS,
    answering: 'playground' as const,
    onRequest: play(node, ({ raw }, reply, key) => node.handlers[kind](raw, reply.raw, undefined, key)),
    handler: neverReached,
  })
  route(api, 'POST /playground/embeddings', {
    id: 'playEmbeddings',
    summary: 'Turn texts into vectors as a caller would; answers as POST /v1/embeddings does',
    body: embeddingRequest.extend({ project }).meta({
      id: 'PlaygroundEmbeddings',
      examples: [{ project: 'search', model: 'demo-embed', input: ['cat', 'kitten', 'car'] }],
    }),
    answer: embeddingAnswer,
    ...playedBy('embeddings'),
  })
  route(api, 'POST /playground/images/generations', {
    id: 'playImages',
    summary: 'Make images as a caller would; answers as POST /v1/images/generations does, also as a stream',
    body: imageRequest.extend({ project }).meta({
      id: 'PlaygroundImages',
      examples: [{ project: 'search', model: 'demo-image', prompt: 'a lighthouse in the fog' }],
    }),
    answer: imageAnswer,
    ...playedBy('generations'),
  })
  route(api, 'POST /playground/images/edits', {
    id: 'playEdits',
    summary: 'Edit images as a caller would; answers as POST /v1/images/edits does, also as a stream',
    consumes: ['multipart/form-data', 'application/json'],
    body: imageEditRequest.extend({ project }).meta({
      id: 'PlaygroundEdits',
      examples: [
        {
          project: 'search',
          model: 'gpt-image-2',
          prompt: 'a night sky',
          images: [{ image_url: 'data:image/png;base64,…' }],
        },
      ],
    }),
    answer: imageAnswer,
    ...playedBy('edits'),
  })
}

/** Files of requests: `POST /batches` makes batches of them. */
export function registerPlayedUploads(api: Api, node: PlaygroundNode): void {
  const playedBy = (step: keyof UploadHandlers) => ({
    permission: 'batches.create' as const,
    description: DESCRIPTION,
    faults: FAULTS,
    answering: 'playground' as const,
    onRequest: play(node, (request, reply, key) => node.uploads[step](request, reply, key)),
    handler: neverReached,
  })
  route(api, 'POST /playground/uploads', {
    id: 'playUpload',
    summary: 'Begin a file of requests that arrives in parts; answers as POST /v1/uploads does',
    body: uploadRequest.extend({ project }).meta({
      id: 'PlaygroundUpload',
      examples: [
        {
          project: 'search',
          filename: 'requests.jsonl',
          purpose: 'batch',
          bytes: 104_857_600,
          mime_type: 'application/jsonl',
        },
      ],
    }),
    answer: upload,
    ...playedBy('begin'),
  })
  route(api, 'POST /playground/uploads/:id/parts', {
    id: 'playUploadPart',
    summary: 'Add a part of at most 64 MB; answers as POST /v1/uploads/{id}/parts does',
    consumes: ['multipart/form-data'],
    params: uploadPath,
    body: uploadPartForm
      .extend({ project })
      .meta({ id: 'PlaygroundUploadPart', examples: [{ project: 'search', data: '@part-1' }] }),
    answer: uploadPart,
    ...playedBy('addPart'),
  })
  route(api, 'POST /playground/uploads/:id/complete', {
    id: 'playUploadCompletion',
    summary: 'Make a file of the parts, in the order given; answers as POST /v1/uploads/{id}/complete does',
    params: uploadPath,
    body: uploadCompletion.extend({ project }).meta({
      id: 'PlaygroundUploadCompletion',
      examples: [{ project: 'search', part_ids: ['part-1', 'part-2'] }],
    }),
    answer: upload,
    ...playedBy('complete'),
  })
  route(api, 'POST /playground/uploads/:id/cancel', {
    id: 'playUploadCancel',
    summary: 'Forget an upload and its parts; answers as POST /v1/uploads/{id}/cancel does',
    params: uploadPath,
    body: z.object({ project }).meta({ id: 'PlaygroundUploadCancel', examples: [{ project: 'search' }] }),
    answer: upload,
    ...playedBy('cancel'),
  })
}

type Serve = (request: FastifyRequest, reply: FastifyReply, key: Key | undefined) => Promise<void>

/** Takes the request from the framework before its body is read, as the gateway does. */
function play(node: PlayersNode, serve: Serve) {
  return async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    const name = await takeProject(request.raw)
    const caller = callerIn(request)
    visibleProjects(caller, name)
    const { headers } = request.raw
    const key = headers[KEY_HEADER] === undefined ? await findOwnKey(caller, name, node) : undefined
    if (key === undefined) delete headers.authorization
    reply.hijack()
    reply.raw.setHeader('cache-control', 'no-store')
    reply.raw.setHeader('x-content-type-options', 'nosniff')
    await serve(request, reply, key)
  }
}

function neverReached(): never {
  throw new Error('a request of the playground came back')
}
