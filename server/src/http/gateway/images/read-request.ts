/** What a caller sends to have pictures made or edited, as one request and its files. */
import type { IncomingMessage } from 'node:http'
import type { PathModel } from '#core/request/path-model.ts'
import { Fault } from '#core/fault/fault.ts'
import { formFields } from '#core/image/edit.ts'
import type { GivenFile } from '#core/image/given.ts'
import { readImageRequest, type ImageRequest } from '#core/image/request.ts'
import { StoreAway } from '#ports/store.ts'
import { NO_FILES, uploadedFiles, type RequestFiles } from '#request/images/files.ts'
import type { RunningJobs } from '#request/images/running-jobs.ts'
import { refuseCompressed, refuseEncoded } from '../caller/caller.ts'
import { givenFile, type EditParts } from '../uploads/edit-parts.ts'
import { readForm } from '../uploads/multipart.ts'
import { parseBody, readBody } from '../caller/read-body.ts'
import { partsOfJson, type ReadingJsonOutside } from '../uploads/read-edit-json.ts'
import type { TakenFile, TakingOutside } from '../uploads/take-file.ts'

export interface ReadImageRequest {
  readonly asked: ImageRequest
  readonly files: RequestFiles
}

export type ReadRequest = (
  request: IncomingMessage,
  path: PathModel | undefined,
  project: string,
) => Promise<ReadImageRequest>

export interface ReadingOutside extends ReadingJsonOutside {
  readonly running: RunningJobs
}

export function generationReader({ limits, json }: Pick<ReadingOutside, 'limits' | 'json'>): ReadRequest {
  return async (request, path, project) => {
    refuseEncoded(request)
    const body = await readBody(request, limits.imagesBodyBytes)
    const parsed = await parseBody(body, json, { project, timeoutMs: limits.imageTimeoutMs })
    return { asked: readImageRequest(parsed, limits, path), files: NO_FILES }
  }
}

export function editReader(outside: ReadingOutside): ReadRequest {
  const { limits, running } = outside
  let arriving = 0
  return async (request, path, project) => {
    // Before a byte of it is read: each may bring hundreds of megabytes.
    if (running.size + arriving >= limits.maxImageJobs)
      throw new Fault(
        'too_many_image_jobs',
        `This node already runs ${running.size + arriving} image jobs, its limit. Retry.`,
      )
    arriving += 1
    try {
      return await readEdit(request, path, project, outside)
    } catch (error) {
      throw error instanceof StoreAway ? unwritable(error) : error
    } finally {
      arriving -= 1
    }
  }
}

function unwritable(cause: StoreAway): Fault {
  return new Fault(
    'uploads_unwritable',
    'This node cannot write the files of the request to its disk. Nothing was bought. Retry.',
    { cause },
  )
}

async function readEdit(
  request: IncomingMessage,
  path: PathModel | undefined,
  project: string,
  outside: ReadingOutside,
): Promise<ReadImageRequest> {
  const { body, given, taken } = await partsOf(request, project, outside)
  const files = uploadedFiles(taken.map(({ upload }) => upload))
  try {
    return { asked: readImageRequest(body, outside.limits, path, given), files }
  } catch (error) {
    await files.discard()
    throw error
  }
}

function partsOf(request: IncomingMessage, project: string, outside: ReadingOutside): Promise<EditParts> {
  refuseCompressed(request)
  const type = request.headers['content-type'] ?? ''
  if (/^multipart\/form-data\b/i.test(type)) return partsOfForm(request, outside)
  if (type === '' || type.includes('json')) return partsOfJson(request, project, outside)
  throw new Fault(
    'unsupported_media_type',
    `The content type is '${type.slice(0, 80)}'. Send images as multipart/form-data, or as data URLs in application/json.`,
  )
}

async function partsOfForm(request: IncomingMessage, outside: TakingOutside): Promise<EditParts> {
  const { fields, files } = await readForm(request, outside)
  const called = (field: TakenFile['field']): GivenFile[] =>
    files.filter((file) => file.field === field).map(givenFile)
  return {
    body: formFields(fields),
    given: { pictures: called('image'), mask: called('mask')[0], markup: called('markup')[0] },
    taken: files,
  }
}
