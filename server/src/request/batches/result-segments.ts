/** Where the bytes of a file are. Output and error files of a batch are made of the matching half of each part that exists. */
import { partName } from '#core/batch/part.ts'
import type { Batches } from '#ports/batches.ts'
import type { Files, FileSegment, OutputFile, StoredFile } from '#ports/files.ts'

const PAGE = 1000

export function segmentsIn(
  files: Pick<Files, 'segments'>,
  batches: Pick<Batches, 'parts'>,
): (file: Pick<StoredFile, 'id' | 'source'>) => Promise<readonly FileSegment[]> {
  return ({ id, source }) => (source.kind === 'batch' ? resultSegments(source, batches) : files.segments(id))
}

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
