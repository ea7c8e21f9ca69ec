/** Reads the bytes of a file from its blobs. */
import { chunksBlobName } from '#core/files/blob-names.ts'
import { chunksIn } from '#core/files/chunk-list.ts'
import type { ScannedChunk } from '#core/files/scan-result.ts'
import type { BlobStore } from '#ports/blobs.ts'
import type { FileSegment } from '#ports/files.ts'
import { StoreUnreachable } from '#ports/store.ts'

/** Both ends included. */
export interface FileRange {
  readonly first: number
  readonly last: number
}

/** The parts of the segments that a range covers. The range lies within the file. */
export function segmentsWithin(
  segments: readonly FileSegment[],
  { first, last }: FileRange,
): readonly FileSegment[] {
  const within: FileSegment[] = []
  let start = 0
  for (const { blob, firstByte, bytes } of segments) {
    const from = Math.max(first, start)
    const to = Math.min(last + 1, start + bytes)
    if (from < to) within.push({ blob, firstByte: firstByte + from - start, bytes: to - from })
    start += bytes
  }
  return within
}

/**
 * Reads one blob after another, each opened when the one before it is read. Rejects with `StoreUnreachable` when a
 * blob is missing.
 */
export async function* bytesOf(
  segments: readonly FileSegment[],
  blobs: Pick<BlobStore, 'open'>,
): AsyncGenerator<Uint8Array> {
  for (const { blob, firstByte, bytes } of segments) {
    if (bytes === 0) continue
    const open = await blobs.open(blob, { first: firstByte, last: firstByte + bytes - 1 })
    if (open === undefined) throw new StoreUnreachable(`${blob} is missing`)
    yield* open.bytes
  }
}

/** The chunks of an uploaded file. Rejects with `StoreUnreachable` when their list is missing. */
export async function chunksOf(
  fileId: string,
  blobs: Pick<BlobStore, 'open'>,
): Promise<readonly ScannedChunk[]> {
  const blob = await blobs.open(chunksBlobName(fileId))
  if (blob === undefined) throw new StoreUnreachable(`${chunksBlobName(fileId)} is missing`)
  const decoder = new TextDecoder()
  let text = ''
  for await (const part of blob.bytes) text += decoder.decode(part, { stream: true })
  return chunksIn(text)
}
