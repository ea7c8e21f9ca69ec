/** The bodies of requests about uploads. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { Fault } from '#core/fault/fault.ts'
import { checkFilename, checkPurpose, expiryMs } from '#core/files/create.ts'
import { isRecord } from '#core/text/record.ts'
import type { FileUpload, UploadPart } from '#ports/file-uploads.ts'
import { addPart, checkPending, type UploadsOutside, type UploadWish } from '#request/files/uploads.ts'
import { checkTexts } from '../../gate/texts.ts'
import { gatewayBounds, type BodyLimit } from '../../gate/bounds.ts'
import { refuseCompressed, refuseEncoded } from '../../gate/encoding.ts'
import { parseJson } from '../../gate/parse-json.ts'
import { receiveBody } from '../../gate/receive-body.ts'
import { inviteBody } from '../../gate/unread.ts'
import type { ReadingBodyOutside } from '../caller/read-body.ts'
import type { KnownRequest } from '../caller/served.ts'
import { IncomingBytes } from '../uploads/incoming-bytes.ts'
import { MultipartParts } from '../uploads/multipart-parts.ts'
import { boundaryOf, labelOf } from '../uploads/part-headers.ts'

const MD5 = /^[0-9a-f]{32}$/i

type Body = Readonly<Record<string, unknown>>

/** The JSON object in the body of a known caller's request. */
export async function readObject(
  { request: { raw: request }, response, key }: KnownRequest,
  limit: BodyLimit,
  { bodyRoom }: Pick<ReadingBodyOutside, 'bodyRoom'>,
): Promise<Body> {
  refuseEncoded(request)
  using held = new DisposableStack()
  const body = await receiveBody(request, response, limit, bodyRoom, () => ({
    share: key.project,
    shownAs: `project '${key.project}'`,
    // Where such a request counts, it was counted before it is read.
    count: () => undefined,
    hold: (room) => void held.use(room),
  }))
  const { value } = parseJson(body)
  if (!isRecord(value)) throw new Fault('invalid_json', 'The body is not a JSON object.')
  checkTexts(value)
  return value
}

export function readWish(body: Body): UploadWish {
  const { purpose, filename, bytes, mime_type: mimeType, expires_after: expiresAfter } = body
  checkPurpose(typeof purpose === 'string' ? purpose : undefined)
  if (filename === undefined) throw missing('filename')
  if (typeof bytes !== 'number' || !Number.isSafeInteger(bytes) || bytes < 1) {
    if (bytes === undefined) throw missing('bytes')
    throw new Fault('invalid_parameter', 'bytes must be a whole number of at least 1.', { param: 'bytes' })
  }
  if (typeof mimeType !== 'string') throw missing('mime_type')
  if (expiresAfter !== undefined && expiresAfter !== null && !isRecord(expiresAfter))
    throw new Fault('invalid_parameter', 'expires_after must be {"anchor": "created_at", "seconds": …}.', {
      param: 'expires_after',
    })
  const { anchor, seconds } = isRecord(expiresAfter) ? expiresAfter : {}
  return {
    filename: checkFilename(typeof filename === 'string' ? filename : undefined),
    bytes,
    expiresAfterMs: expiryMs(anchor, seconds),
  }
}

export function readCompletion({ part_ids: partIds, md5 }: Body): {
  readonly partIds: readonly string[]
  readonly md5: string | undefined
} {
  if (partIds === undefined) throw missing('part_ids')
  if (!Array.isArray(partIds) || !partIds.every((id) => typeof id === 'string'))
    throw new Fault('invalid_parameter', 'part_ids must be a list of ids of parts.', { param: 'part_ids' })
  if (md5 === undefined || md5 === null) return { partIds, md5: undefined }
  if (typeof md5 !== 'string' || !MD5.test(md5))
    throw new Fault('invalid_parameter', 'md5 must be 32 hexadecimal digits.', { param: 'md5' })
  return { partIds, md5 }
}

/** A form with the bytes of one part, under `data`. */
export async function takePart(
  request: IncomingMessage,
  response: ServerResponse,
  upload: FileUpload,
  outside: UploadsOutside & { readonly yieldOnArrival: () => Promise<unknown> },
): Promise<UploadPart> {
  checkPending(upload, outside)
  refuseCompressed(request)
  const boundary = boundaryOf(request.headers['content-type'])
  const body = new IncomingBytes(request, {
    ...gatewayBounds(outside.limits)['POST /uploads/:id/parts'].form,
    idleMs: outside.limits.uploadIdleMs,
  })
  let part: UploadPart | undefined
  try {
    inviteBody(request, response)
    for await (const { headers, bytes } of new MultipartParts(body, boundary, outside.yieldOnArrival)) {
      const { name } = labelOf(headers)
      if (name !== 'data' || part !== undefined)
        throw new Fault('invalid_parameter', 'The form has more than one part called data.', { param: name })
      part = await addPart(upload, bytes, outside)
    }
  } finally {
    body.release()
  }
  if (part === undefined) throw missing('data')
  return part
}

function missing(param: string): Fault {
  return new Fault('missing_parameter', `${param} is missing.`, { param })
}
