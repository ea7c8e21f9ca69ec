/** `GET /v1/files/{id}/content`: the bytes of a file, whole or in part, read from its segments. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { BlobStore } from '#ports/blobs.ts'
import type { StoredFile } from '#ports/files.ts'
import { fileFault, type SegmentsOf } from '#request/files/arriving-file.ts'
import { bytesOf, segmentsWithin } from '#request/files/content.ts'
import { isKnown, rangeIn } from '../caller/byte-range.ts'
import { drained } from '../caller/writing.ts'

export interface ContentOutside {
  readonly fileBlobs: BlobStore
  readonly segmentsOf: SegmentsOf
}

/** Throws only before anything is written. */
export async function sendContent(
  request: IncomingMessage,
  response: ServerResponse,
  { file, requestId }: { readonly file: StoredFile; readonly requestId: string },
  { fileBlobs, segmentsOf }: ContentOutside,
): Promise<void> {
  const segments = await segmentsOf(file)
  // For a file that a batch still writes: the bytes so far.
  const bytes = segments.reduce((sum, segment) => sum + segment.bytes, 0)
  // Results of a batch may be dropped, and others of the same size may follow the rest.
  const end = segments.at(-1)?.blob.split('/').at(-1) ?? ''
  const etag = file.source.kind === 'uploaded' ? `"${file.source.sha256}"` : `"${file.id}-${bytes}-${end}"`
  const headers: Record<string, string> = {
    'x-request-id': requestId,
    etag,
    'accept-ranges': 'bytes',
    'cache-control': 'private, no-cache',
    'x-content-type-options': 'nosniff',
    'content-type': 'application/octet-stream',
    'content-disposition': `attachment; filename*=UTF-8''${encodeURIComponent(file.filename)}`,
  }
  if (isKnown(request.headers['if-none-match'], etag)) {
    response.writeHead(304, headers).end()
    return
  }
  const condition = request.headers['if-range']
  // A reader that has the beginning of other bytes gets these from the beginning.
  const asked = condition === undefined || condition === etag ? request.headers.range : undefined
  const range = rangeIn(asked, bytes)
  if (range === 'unsatisfiable') {
    response.writeHead(416, { ...headers, 'content-range': `bytes */${bytes}` }).end()
    return
  }
  const { first, last } = range ?? { first: 0, last: bytes - 1 }
  headers['content-length'] = String(last - first + 1)
  if (range !== undefined) headers['content-range'] = `bytes ${first}-${last}/${bytes}`
  const reading = bytesOf(segmentsWithin(segments, { first, last }), fileBlobs)
  try {
    // Opened before the answer begins, so that a failure can still be a fault.
    let next = request.method === 'HEAD' ? undefined : await reading.next().catch(rethrown)
    response.writeHead(range === undefined ? 200 : 206, headers)
    while (next !== undefined && next.done !== true && !response.destroyed) {
      if (!response.write(next.value)) await drained(response)
      next = await reading.next()
    }
    response.end()
  } finally {
    await reading.return(undefined)
  }
}

function rethrown(error: unknown): never {
  throw fileFault(error)
}
