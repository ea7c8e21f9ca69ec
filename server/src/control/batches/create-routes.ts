/** A batch of an uploaded file, under a key of the project or under the caller's own name. */
import { readBatchRequest } from '#core/batch/request.ts'
import type { Key } from '#ports/keys.ts'
import { keyNow } from '#request/access/terms-now.ts'
import { createBatch } from '#request/batches/create.ts'
import { scopeOf } from '#http/gateway/batches/batches.ts'
import { batchRequest } from '#http/gateway/batches/schemas.ts'
import { checkScope } from '#http/gateway/caller/key-bounds.ts'
import { repetitionIn } from '#http/gateway/caller/repetition.ts'
import { batchBody, reportedBatch } from '../shared/batch-fields.ts'
import { actorIn, callerIn, visibleProjects } from '../shared/caller.ts'
import { invalidField } from '../shared/faults.ts'
import { name, storable } from '../shared/fields.ts'
import type { ControlNode } from '../shared/node.ts'
import { findOwnKey, type PlayersNode } from '../shared/players.ts'
import { route, type Api } from '../shared/route.ts'

const newBatch = batchRequest
  .extend({
    project: name.describe('The project that pays, and that has the file.'),
    key: storable(200)
      .nullable()
      .default(null)
      .describe(
        'The key of the project that it runs under, such as `search/indexer`. null: under your own name, as the playground.',
      ),
  })
  .meta({
    id: 'NewBatch',
    examples: [
      {
        project: 'search',
        key: 'search/indexer',
        input_file_id: 'file-0197f0f3-6a2c-7d61-9c55-3f1b1c2d3e4f',
        endpoint: '/v1/embeddings',
        completion_window: '24h',
      },
    ],
  })

type CreatingNode = PlayersNode & Pick<ControlNode, 'forBatches' | 'terms'>

export function registerBatchCreation(api: Api, node: CreatingNode): void {
  route(api, 'POST /batches', {
    permission: 'batches.create',
    id: 'createBatch',
    summary: 'Run the requests of a file in the background. The same `Idempotency-Key` is the same batch',
    body: newBatch,
    answers: { 201: reportedBatch },
    faults: [400, 403, 404, 409, 413, 422, 429, 503],
    answering: 'playground',
    handler: async (request, reply) => {
      const { project, key: keyId, ...body } = request.body
      const caller = callerIn(request)
      visibleProjects(caller, project)
      const asked = readBatchRequest(body)
      const key =
        keyId === null ? await findOwnKey(caller, project, node) : await findKey(keyId, project, node)
      checkScope(key, scopeOf(asked))
      const options = { key, ...repetitionIn(request.raw), by: actorIn(request) }
      return reply.code(201).send(batchBody(await createBatch(asked, options, node.forBatches)))
    },
  })
}

async function findKey(keyId: string, project: string, { terms }: CreatingNode): Promise<Key> {
  if (!keyId.startsWith(`${project}/`))
    throw invalidField(`The key ${keyId} does not belong to the project ${project}.`, 'key')
  const owner = { keyId, project, player: undefined }
  const { standing } = await terms.of(owner)
  if (standing === 'revoked' || standing === 'expired' || standing === 'leaked')
    throw invalidField(`The key ${keyId} does not exist, was revoked or has expired. Choose another.`, 'key')
  return keyNow(owner, false, terms)
}
