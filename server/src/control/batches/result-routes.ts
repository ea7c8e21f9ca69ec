/** Results of a batch: its output and error files. */
import { z } from 'zod'
import type { Batch } from '#ports/batches.ts'
import type { Files, OutputFile } from '#ports/files.ts'
import { sendContent } from '#http/gateway/files/content.ts'
import { callerIn } from '../shared/caller.ts'
import { notFound } from '../shared/faults.ts'
import type { ControlNode } from '../shared/node.ts'
import { route, type Api } from '../shared/route.ts'
import { batchPath, seenBatch } from './open.ts'

type ResultsNode = Pick<ControlNode, 'reports' | 'batches' | 'files' | 'fileBlobs' | 'segmentsOf'>

export function registerBatchResults(api: Api, node: ResultsNode): void {
  for (const half of ['output', 'errors'] as const)
    route(api, `GET /batches/:id/${half}`, {
      permission: 'batches.read',
      id: half === 'output' ? 'batchOutput' : 'batchErrors',
      summary: `The ${half === 'output' ? 'output' : 'error'} file of a batch, whole or a range of it; of one that still runs, as far as it is there`,
      params: batchPath,
      answer: z.string().describe('JSON lines.'),
      handler: async (request, reply) => {
        const batch = await seenBatch(request.params.id, callerIn(request), node)
        const file = await resultsOf(batch, half, node.files)
        await sendContent(request.raw, reply.raw, { file, requestId: request.id }, node)
        // The answer is written: the framework has nothing more to do.
        return reply.hijack()
      },
    })
}

async function resultsOf(
  { id, project, outputFileId, errorFileId }: Batch,
  half: 'output' | 'errors',
  files: Pick<Files, 'find'>,
): Promise<OutputFile> {
  const file = await files.find(half === 'output' ? outputFileId : errorFileId, project)
  if (file === undefined || file.source.kind !== 'batch')
    throw notFound(`Batch ${id} has no ${half === 'output' ? 'output' : 'error'} file.`)
  return { ...file, source: file.source }
}
