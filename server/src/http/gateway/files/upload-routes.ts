/** `/v1/uploads`: a file of up to 8 GB in parts, each of which can be sent again. */
import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { Fault } from '#core/fault/fault.ts'
import type { FileUpload } from '#ports/file-uploads.ts'
import type { StoredFile } from '#ports/files.ts'
import { beginUpload, cancelUpload, completeUpload, type UploadsOutside } from '#request/files/uploads.ts'
import { faultAnswers } from '../../fault-answers.ts'
import { gatewayBounds } from '../../gate/bounds.ts'
import type { ListenerDependencies } from '../caller/journey.ts'
import type { ReadingBodyOutside } from '../caller/read-body.ts'
import { PREFIXES } from '../caller/routes.ts'
import { idIn, serveKnown, takenBy, type KnownRequest, type ServedHandler } from '../caller/served.ts'
import { fileObject } from './objects.ts'
import { AS_FILES } from './routes.ts'
import { upload, uploadCompletion, uploadPart, uploadPartForm, uploadRequest } from './schemas.ts'
import { readCompletion, readObject, readWish, takePart } from './upload-requests.ts'

export interface UploadsDependencies extends ListenerDependencies, UploadsOutside, ReadingBodyOutside {
  readonly yieldOnArrival: () => Promise<unknown>
}

/** The console's playground uses them too. */
export interface UploadHandlers {
  readonly begin: ServedHandler
  readonly addPart: ServedHandler
  readonly complete: ServedHandler
  readonly cancel: ServedHandler
}

export function uploadHandlers(dependencies: UploadsDependencies): UploadHandlers {
  const bounds = gatewayBounds(dependencies.limits)
  return {
    begin: serveKnown(dependencies, { ...AS_FILES, isCounted: true }, async (asked) => {
      const body = await readObject(asked, bounds['POST /uploads'].json, dependencies)
      return uploadObject(await beginUpload(asked.key, readWish(body), dependencies))
    }),
    addPart: serveKnown(dependencies, AS_FILES, async (asked) => {
      const found = await find(asked, dependencies)
      const { id, createdAtMs } = await takePart(asked.request.raw, asked.response, found, dependencies)
      const seconds = Math.floor(createdAtMs / 1000)
      return { id, object: 'upload.part', created_at: seconds, upload_id: found.id }
    }),
    complete: serveKnown(dependencies, AS_FILES, async (asked) => {
      const found = await find(asked, dependencies)
      const body = await readObject(asked, bounds['POST /uploads/:id/complete'].json, dependencies)
      const file = await completeUpload(found, readCompletion(body), dependencies)
      return uploadObject({ ...found, state: 'completed' }, file)
    }),
    cancel: serveKnown(dependencies, AS_FILES, async (asked) => {
      return uploadObject(await cancelUpload(await find(asked, dependencies), dependencies))
    }),
  }
}

const FAULTS = faultAnswers([400, 401, 404, 408, 413, 415, 429, 503], 'gateway')

export function registerUploads(app: FastifyInstance, handlers: UploadHandlers): void {
  const params = z.object({ id: z.string() })
  for (const { prefix, hide } of PREFIXES) {
    app.post(`${prefix}/uploads`, {
      schema: {
        hide,
        operationId: 'createUpload',
        summary: 'Begin a file that arrives in parts',
        body: uploadRequest,
        response: { 200: upload, ...FAULTS },
      },
      ...takenBy(handlers.begin),
    })
    app.post(`${prefix}/uploads/:id/parts`, {
      schema: {
        hide,
        operationId: 'addUploadPart',
        summary: 'Add a part of at most 64 MB. Parts may come side by side',
        consumes: ['multipart/form-data'],
        params,
        body: uploadPartForm,
        response: { 200: uploadPart, ...FAULTS },
      },
      ...takenBy(handlers.addPart),
    })
    app.post(`${prefix}/uploads/:id/complete`, {
      schema: {
        hide,
        operationId: 'completeUpload',
        summary: 'Make a file of the parts, in the order given',
        params,
        body: uploadCompletion,
        response: { 200: upload, ...FAULTS },
      },
      ...takenBy(handlers.complete),
    })
    app.post(`${prefix}/uploads/:id/cancel`, {
      schema: {
        hide,
        operationId: 'cancelUpload',
        summary: 'Forget an upload and its parts',
        params,
        response: { 200: upload, ...FAULTS },
      },
      ...takenBy(handlers.cancel),
    })
  }
}

/** The same answer for another project's upload: its existence is not disclosed. */
async function find(
  { request, key }: KnownRequest,
  { fileUploads }: UploadsDependencies,
): Promise<FileUpload> {
  const id = idIn(request)
  const found = await fileUploads.find(id, key.project)
  if (found === undefined)
    throw new Fault('not_found', `No such Upload object: ${id.slice(0, 80)}`, { param: 'id' })
  return found
}

function uploadObject(of: FileUpload, file?: StoredFile): object {
  return {
    id: of.id,
    object: 'upload',
    bytes: of.bytes,
    created_at: Math.floor(of.createdAtMs / 1000),
    expires_at: Math.floor(of.expiresAtMs / 1000),
    filename: of.filename,
    purpose: 'batch',
    status: of.state,
    file: file === undefined ? null : fileObject(file),
  }
}
