/** A line of a batch of embeddings, read as its route reads a body. */
import type { EmbeddingRequest } from '#core/embedding/request.ts'
import { readEmbeddingRequest } from '#core/embedding/request.ts'
import { Fault } from '#core/fault/fault.ts'
import { MAX_LINE_BYTES } from '#core/files/lines.ts'
import { dividedLine } from '#core/files/request-line.ts'
import { boundsOf } from '#core/text/json-bounds.ts'
import type { LargeJson } from '#ports/json.ts'
import type { EmbeddingLine, FetchedMedia } from '#request/batches/embedding-line.ts'
import { ownBuffer, parseBody } from '../../gate/parse-json.ts'
import { fetchAddresses, readTaken, type ReadingContentsOutside } from './read-contents.ts'
import { TakenMedia } from './take-media.ts'

export interface ReadingLineOutside extends ReadingContentsOutside {
  readonly json: LargeJson
}

/** The bytes stay the caller's, and so do the media of a line that was read. */
export async function readEmbeddingLine(
  line: Uint8Array,
  project: string,
  outside: ReadingLineOutside,
): Promise<EmbeddingLine> {
  const { customId, body } = dividedLine(line, textOf)
  const taken = new TakenMedia(outside)
  try {
    return {
      customId,
      request: await requestIn(body, project, taken, outside),
      fault: undefined,
      media: taken,
    }
  } catch (error) {
    await taken[Symbol.asyncDispose]()
    if (!(error instanceof Fault)) throw error
    return { customId, request: undefined, fault: error, media: undefined }
  }
}

async function requestIn(
  body: Uint8Array,
  project: string,
  taken: TakenMedia,
  outside: ReadingLineOutside,
): Promise<EmbeddingRequest> {
  const { json, limits } = outside
  // The upload has bounded the line.
  const contents = { maxTextBytes: MAX_LINE_BYTES, maxFiles: limits.maxInputs }
  const bounds = { ...boundsOf(limits.maxInputs), contents }
  const asker = { project, timeoutMs: limits.requestTimeoutMs }
  const { value, exact, media } = await parseBody(ownBuffer(body), json, asker, bounds)
  if (media === undefined) return readEmbeddingRequest(value, limits.maxInputs, undefined, exact)
  const { asked } = await readTaken({ value, exact, media }, taken, undefined, outside)
  return asked
}

/** Media that lines name by address, fetched for one call. */
export function fetchedMedia(project: string, outside: ReadingContentsOutside): FetchedMedia {
  const taken = new TakenMedia(outside)
  return {
    fetch: (request) => fetchAddresses(request, project, taken, outside),
    [Symbol.asyncDispose]: () => taken[Symbol.asyncDispose](),
  }
}

const decoder = new TextDecoder()
const textOf = (bytes: Uint8Array): string => decoder.decode(bytes)
