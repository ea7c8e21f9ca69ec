/** A line of an image batch, read as its own route reads a body. */
import { isEdits } from '#core/batch/request.ts'
import { Fault } from '#core/fault/fault.ts'
import { readImageRequest, type ImageRequest } from '#core/image/request.ts'
import { isRecord } from '#core/text/record.ts'
import type { LargeJson, LiftedFile, ParsedJson } from '#ports/json.ts'
import type { PictureLine } from '#request/batches/picture-line.ts'
import { NO_FILES, uploadedFiles, type RequestFiles } from '#request/images/files.ts'
import { parseBody, refuseJson } from '../../gate/parse-json.ts'
import { partsOfParsed, type TakingPicturesOutside } from '../uploads/read-edit-json.ts'

export interface ReadingLineOutside extends TakingPicturesOutside {
  readonly json: LargeJson
}

export async function readPictureLine(
  endpoint: string,
  line: Uint8Array<ArrayBuffer>,
  project: string,
  outside: ReadingLineOutside,
): Promise<PictureLine> {
  const bytes = Buffer.from(line.buffer, line.byteOffset, line.length)
  // Read first: the parser may take over the bytes.
  const customId = customIdIn(bytes.toString('utf8'))
  try {
    const read = isEdits(endpoint) ? readEdit : readGeneration
    const { asked, files } = await read(bytes, project, outside)
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
  bytes: Buffer<ArrayBuffer>,
  project: string,
  { json, limits }: ReadingLineOutside,
): Promise<ReadLine> {
  refuseLonger(bytes, limits.imagesBodyBytes)
  const { value, exact } = bodyOf(await parseBody(bytes, json, { project, timeoutMs: limits.imageTimeoutMs }))
  return { asked: readImageRequest(value, limits, undefined, undefined, exact), files: NO_FILES }
}

async function readEdit(
  bytes: Buffer<ArrayBuffer>,
  project: string,
  outside: ReadingLineOutside,
): Promise<ReadLine> {
  const { json, limits } = outside
  refuseLonger(bytes, limits.editsJsonBytes)
  const asker = { project, timeoutMs: limits.imageTimeoutMs }
  const { files: lifted, ...parsed } = await json.parseWithFiles(bytes, asker).catch(refuseJson)
  const { value, exact } = bodyOf(parsed)
  const parts = await partsOfParsed({ value, exact, files: lifted.map(inBody) }, project, outside)
  const files = uploadedFiles(parts.taken.map(({ upload }) => upload))
  try {
    const { images: _images, mask: _mask, markup: _markup, ...numbers } = parts.exact ?? {}
    return { asked: readImageRequest(parts.body, limits, undefined, parts.given, numbers), files }
  } catch (error) {
    await files.discard()
    throw error
  }
}

const BODY = 'body/'

/** Its place in the body, not in the line. */
function inBody({ place, bytes }: LiftedFile): LiftedFile {
  return { place: place.startsWith(BODY) ? place.slice(BODY.length) : place, bytes }
}

function bodyOf({ value, exact }: ParsedJson): ParsedJson {
  const body = isRecord(value) ? value['body'] : undefined
  const exactBody = exact?.['body']
  return { value: body, exact: isRecord(exactBody) ? exactBody : undefined }
}

function refuseLonger({ length }: Uint8Array, maxBytes: number): void {
  if (length <= maxBytes) return
  throw new Fault('body_too_large', `The line has ${length} bytes; at most ${maxBytes} are allowed.`)
}

/** The upload checked that every line has one. */
function customIdIn(text: string): string {
  const line = JSON.parse(text) as unknown
  return isRecord(line) && typeof line['custom_id'] === 'string' ? line['custom_id'] : ''
}
