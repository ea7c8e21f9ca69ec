/** The output and error files of a batch: the halves of its parts, one after another, as far as there are any. */
import { partName } from '#core/batch/part.ts'
import type { Batches } from '#ports/batches.ts'
import type { FileSegment, OutputFile } from '#ports/files.ts'

const PAGE = 1000

export async function resultSegments(
  { batchId, half }: OutputFile['source'],
  batches: Pick<Batches, 'parts'>,
): Promise<readonly FileSegment[]> {
  const segments: FileSegment[] = []
  for (let after: number | undefined; ;) {
    const parts = await batches.parts(batchId, { after, limit: PAGE })
    for (const { chunk, token, headBytes, outputBytes, errorBytes } of parts) {
      const blob = partName(batchId, chunk, token)
      segments.push(
        half === 'output'
          ? { blob, firstByte: headBytes, bytes: outputBytes }
          : { blob, firstByte: headBytes + outputBytes, bytes: errorBytes },
      )
    }
    if (parts.length < PAGE) return segments
    after = parts.at(-1)?.number
  }
}
