/** A caller's image request and its files, for generations and edits. */
import type { IncomingMessage } from 'node:http'
import { FairShare } from '#core/schedule/fair-share.ts'
import { Fault } from '#core/fault/fault.ts'
import { named } from '#core/fault/shown.ts'
import { formFields } from '#core/image/edit.ts'
import type { GivenFile } from '#core/image/given.ts'
import { readImageRequest, type ImageRequest } from '#core/image/request.ts'
import type { Key } from '#ports/keys.ts'
import { NO_FILES, uploadedFiles, type RequestFiles } from '#request/images/files.ts'
import type { RunningJobs } from '#request/images/running-jobs.ts'
import { countFirst } from '../caller/count-request.ts'
import type { Journey } from '../caller/journey.ts'
import { inviteBody } from '../../gate/unread.ts'
import { readForm } from '../uploads/multipart.ts'
import { uploadFault } from '../uploads/upload-fault.ts'
import { gatewayBounds } from '../../gate/bounds.ts'
import { isJson, refuseCharset, refuseCompressed, refuseEncoded } from '../../gate/encoding.ts'
import { parseBody } from '../../gate/parse-json.ts'
import { readBody, type ReadingBodyOutside } from '../caller/read-body.ts'
import { partsOfJson, type ReadingJsonOutside } from '../uploads/read-edit-json.ts'
import { givenFile, type EditParts, type TakenFile, type TakingOutside } from '../uploads/take-file.ts'

export interface ReadImageRequest {
  readonly asked: ImageRequest
  readonly files: RequestFiles
}

export type ReadRequest = (journey: Journey, key: Key) => Promise<ReadImageRequest>

export interface ReadingOutside extends ReadingJsonOutside {
  readonly running: RunningJobs
}

type ReadingGenerationsOutside = ReadingBodyOutside & Pick<ReadingOutside, 'limits' | 'json'>

export function generationReader(outside: ReadingGenerationsOutside): ReadRequest {
  const { limits, json } = outside
  const bodyLimit = gatewayBounds(limits)['POST /images/generations'].json
  return async (journey, key) => {
    refuseEncoded(journey.request)
    const body = await readBody(journey, key, bodyLimit, outside)
    journey.trace.bytesIn = body.length
    const asker = { project: key.project, timeoutMs: limits.imageTimeoutMs }
    const { value, exact } = await parseBody(body, json, asker)
    const asked = readImageRequest(value, limits, journey.path, undefined, exact)
    journey.room?.[Symbol.dispose]()
    return { asked, files: NO_FILES }
  }
}

export function editReader(outside: ReadingOutside): ReadRequest {
  const { limits, running, wait } = outside
  const places = new FairShare({
    capacity: limits.maxImageJobs,
    headroom: HEADROOM,
    maxWaiting: limits.maxImageJobs,
  })
  return async (journey, key) => {
    // Before a byte of it is read, since each may bring hundreds of megabytes. The job takes over the slot once the edit is here.
    const ofJob = await running.place(key.project)
    ofJob[Symbol.dispose]()
    using place = await places.takeBefore(key.project, 1, () => wait(PLACE_WAIT_MS))
    if (place === undefined)
      throw new Fault(
        'too_many_image_jobs',
        `Too many edits arrive at this node at once: ${limits.maxImageJobs - places.free}, of which ${places.heldBy(key.project)} are of project '${key.project}'. Retry.`,
        { retryAfterMs: PLACE_WAIT_MS },
      )
    try {
      return await readEdit(journey, key, outside)
    } catch (error) {
      throw uploadFault(error)
    }
  }
}

/** A project gets at most three times the slots that stay free: a slow sender holds its slot for minutes. */
const HEADROOM = 3
/** Longest wait for an upload slot. Uploads take seconds; a longer wait is better refused with a retry time. */
const PLACE_WAIT_MS = 2000

async function readEdit(journey: Journey, key: Key, outside: ReadingOutside): Promise<ReadImageRequest> {
  const { body, exact, given, taken } = await partsOf(journey, key, outside)
  journey.trace.bytesIn = bytesOf(journey.request, taken)
  const files = uploadedFiles(taken.map(({ upload }) => upload))
  try {
    return { asked: readImageRequest(body, outside.limits, journey.path, given, exact), files }
  } catch (error) {
    await files.discard()
    throw error
  }
}

/** As the caller announced it; otherwise the bytes of the files, which is nearly all. */
function bytesOf({ headers }: IncomingMessage, taken: readonly TakenFile[]): number {
  return Number(headers['content-length'] ?? 0) || taken.reduce((sum, { upload }) => sum + upload.size, 0)
}

async function partsOf(journey: Journey, key: Key, outside: ReadingOutside): Promise<EditParts> {
  const { request } = journey
  refuseCompressed(request)
  const type = request.headers['content-type'] ?? ''
  if (/^multipart\/form-data\b/i.test(type)) {
    await countFirst(journey, key, outside.limiter)
    inviteBody(request, journey.response)
    return partsOfForm(request, outside)
  }
  if (type === '' || isJson(type)) {
    refuseCharset(type)
    return partsOfJson(journey, key, outside)
  }
  throw new Fault(
    'unsupported_media_type',
    `The content type is ${named(type, 80)}. Send images as multipart/form-data, or as data URLs in application/json.`,
  )
}

async function partsOfForm(request: IncomingMessage, outside: TakingOutside): Promise<EditParts> {
  const { fields, files } = await readForm(request, outside)
  const called = (field: TakenFile['field']): GivenFile[] =>
    files.filter((file) => file.field === field).map(givenFile)
  return {
    body: formFields(fields),
    exact: undefined,
    given: { pictures: called('image'), mask: called('mask')[0], markup: called('markup')[0] },
    taken: files,
  }
}
