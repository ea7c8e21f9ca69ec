/** The playground: requests as a caller would send them, under a project that the member may use and that pays for them. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { GatewayHandlers } from '#http/gateway/handlers.ts'
import { embeddingAnswer, embeddingRequest } from '#http/gateway/embeddings/schemas.ts'
import { imageAnswer, imageEditRequest, imageRequest } from '#http/gateway/images/schemas.ts'
import type { Key } from '#ports/keys.ts'
import { callerIn, playerOf, visibleProjects, type Caller } from '../shared/caller.ts'
import { notFound } from '../shared/faults.ts'
import type { ControlNode } from '../shared/node.ts'
import { route, type Api } from '../shared/route.ts'
import { playerKey, type PlayersNode } from '../shared/players.ts'
import { takeProject } from './project-rules.ts'

type PlaygroundNode = PlayersNode & Pick<ControlNode, 'handlers'>

const FAULTS = [400, 401, 403, 404, 408, 412, 413, 415, 422, 424, 429, 500, 502, 503, 504]

/** As callers of the gateway present their key; `authorization` is the session's or the token's here. */
const KEY_HEADER = 'x-api-key'

const DESCRIPTION = `With \`${KEY_HEADER}: <secret of a key>\` the request runs as that key's own: its models, limits and budget apply, and its project pays.`

const project = z
  .string()
  .describe('The project that pays, and whose limits hold. It must be the first field of the body.')

export function registerPlayground(api: Api, node: PlaygroundNode): void {
  const playedBy = (kind: keyof GatewayHandlers) => ({
    permission: 'playground.run' as const,
    description: DESCRIPTION,
    faults: FAULTS,
    answering: 'playground' as const,
    onRequest: (request: FastifyRequest, reply: FastifyReply) => play(request, reply, kind, node),
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

/** Takes the request from the framework before its body is read, as the gateway does. */
async function play(
  request: FastifyRequest,
  reply: FastifyReply,
  kind: keyof GatewayHandlers,
  node: PlaygroundNode,
): Promise<void> {
  const name = await takeProject(request.raw)
  const caller = callerIn(request)
  visibleProjects(caller, name)
  const { headers } = request.raw
  const key = headers[KEY_HEADER] === undefined ? await consoleKey(caller, name, node) : undefined
  if (key === undefined) delete headers.authorization
  reply.hijack()
  reply.raw.setHeader('cache-control', 'no-store')
  reply.raw.setHeader('x-content-type-options', 'nosniff')
  await node.handlers[kind](request.raw, reply.raw, undefined, key)
}

async function consoleKey(caller: Caller, project: string, node: PlayersNode): Promise<Key> {
  const key = await playerKey(playerOf(caller), project, node)
  if (key === undefined) throw notFound(`There is no project ${project.slice(0, 100)}.`)
  return key
}

function neverReached(): never {
  throw new Error('a request of the playground came back')
}
