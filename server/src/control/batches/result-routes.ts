/** Results of a batch: its output and error files, and its vectors as one file. */
import { z } from 'zod'
import { Fault } from '#core/fault/fault.ts'
import type { Batch } from '#ports/batches.ts'
import type { Files, OutputFile } from '#ports/files.ts'
import { VECTOR_FILE_FORMATS } from '#ports/vector-files.ts'
import { vectorResults } from '#request/batches/vector-results.ts'
import { sendContent } from '#http/gateway/files/content.ts'
import { callerIn } from '../shared/caller.ts'
import { notFound } from '../shared/faults.ts'
import type { ControlNode } from '../shared/node.ts'
import { route, type Api } from '../shared/route.ts'
import { StreamSlots } from '../shared/stream-slots.ts'
import { batchPath, seenBatch } from './open.ts'

/** Files of vectors that this node writes at once: one thread makes them, each with tens of megabytes in memory. */
const MAX_DOWNLOADS = 4
const RETRY_AFTER_MS = 10_000

type ResultsNode = Pick<
  ControlNode,
  'reports' | 'batches' | 'files' | 'fileBlobs' | 'segmentsOf' | 'vectorFiles'
>

export function registerBatchResults(api: Api, node: ResultsNode): void {
  const downloads = new StreamSlots({
    slots: MAX_DOWNLOADS,
    headroom: Infinity,
    full: () =>
      new Fault('too_many_exports', `This node writes ${MAX_DOWNLOADS} files of vectors already. Retry.`, {
        retryAfterMs: RETRY_AFTER_MS,
      }),
  })
  route(api, 'GET /batches/:id/results', {
    permission: 'batches.read',
    id: 'batchResults',
    summary:
      'The vectors of a batch as one file, in the order of its lines; of one that still runs, as far as they are there',
    params: batchPath,
    query: z.strictObject({
      format: z
        .enum(VECTOR_FILE_FORMATS)
        .describe(
          '`jsonl`: id and vector of each line. `parquet`: the columns id and vector. `npy`: a matrix with a row for each row of the file, NaN without a vector.',
        ),
    }),
    answer: z.string().describe('The bytes of the file, streamed.'),
    handler: async (request, reply) => {
      const { format } = request.query
      const batch = await seenBatch(request.params.id, callerIn(request), node)
      return downloads.answer(request, reply, {
        headers: {
          'content-type': format === 'jsonl' ? 'application/x-ndjson' : 'application/octet-stream',
          'content-disposition': `attachment; filename*=UTF-8''${encodeURIComponent(`${stemOf(batch)}.${format}`)}`,
          ...(batch.spaces.length === 1 && { 'x-torana-space': batch.spaces[0] ?? '' }),
        },
        open: () => vectorResults(batch, format, node),
      })
    },
  })

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

/** Of the file that the batch was made from; otherwise its id. */
function stemOf({ id, corpusRows, metadata }: Batch): string {
  const stem = corpusRows === undefined ? undefined : metadata?.['file']?.replace(/\.[a-z]+$/i, '')
  return stem || id
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
