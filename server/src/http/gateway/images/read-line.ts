/** A line of an image batch, read as its own route reads a body. */
import { isEdits } from '#core/batch/request.ts'
import { Fault } from '#core/fault/fault.ts'
import { readImageRequest, type ImageRequest } from '#core/image/request.ts'
import { dividedLine } from '#core/files/request-line.ts'
import type { LargeJson } from '#ports/json.ts'
import type { PictureLine } from '#request/batches/picture-line.ts'
import { NO_FILES, uploadedFiles, type RequestFiles } from '#request/images/files.ts'
import { ownBuffer, parseBody, refuseJson } from '../../gate/parse-json.ts'
import { partsOfParsed, type TakingPicturesOutside } from '../uploads/read-edit-json.ts'

export interface ReadingLineOutside extends TakingPicturesOutside {
  readonly json: LargeJson
}

export async function readPictureLine(
  endpoint: string,
  line: Uint8Array,
  project: string,
  outside: ReadingLineOutside,
): Promise<PictureLine> {
  const { customId, body } = dividedLine(line, textOf)
  try {
    const read = isEdits(endpoint) ? readEdit : readGeneration
    const { asked, files } = await read(body, project, outside)
    if (!asked.stream) return { customId, asked, files, fault: undefined }
    await files.discard()
    throw new Fault('invalid_parameter', 'stream is true, but a batch streams nothing. Remove stream.', {
      param: 'stream',
    })
  } catch (error) {
    if (!(error instanceof Fault)) throw error
    return { customId, asked: undefined, files: NO_FILES, fault: error }
  }
}

interface ReadLine {
  readonly asked: ImageRequest
  readonly files: RequestFiles
}

async function readGeneration(
  body: Uint8Array,
  project: string,
  { json, limits }: ReadingLineOutside,
): Promise<ReadLine> {
  refuseLonger(body, limits.imagesBodyBytes)
  const asker = { project, timeoutMs: limits.imageTimeoutMs }
  const { value, exact } = await parseBody(ownBuffer(body), json, asker)
  return { asked: readImageRequest(value, limits, undefined, undefined, exact), files: NO_FILES }
}

async function readEdit(body: Uint8Array, project: string, outside: ReadingLineOutside): Promise<ReadLine> {
  const { json, limits } = outside
  refuseLonger(body, limits.editsJsonBytes)
  const asker = { project, timeoutMs: limits.imageTimeoutMs }
  const parsed = await json.parseWithFiles(body.slice(), asker).catch(refuseJson)
  const parts = await partsOfParsed(parsed, project, outside)
  const files = uploadedFiles(parts.taken.map(({ upload }) => upload))
  try {
    return { asked: readImageRequest(parts.body, limits, undefined, parts.given, parts.exact), files }
  } catch (error) {
    await files.discard()
    throw error
  }
}

function refuseLonger({ length }: Uint8Array, maxBytes: number): void {
  if (length <= maxBytes) return
  throw new Fault(
    'body_too_large',
    `The line has a body of ${length} bytes; at most ${maxBytes} are allowed.`,
  )
}

const decoder = new TextDecoder()
const textOf = (bytes: Uint8Array): string => decoder.decode(bytes)
