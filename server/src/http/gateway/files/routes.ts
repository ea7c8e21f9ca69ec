/** `/v1/files`: files that callers store here, and the results of batches. */
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { Fault } from '#core/fault/fault.ts'
import type { FileQuery, StoredFile } from '#ports/files.ts'
import type { Key } from '#ports/keys.ts'
import { fileFault } from '#request/files/arriving-file.ts'
import { faultAnswers } from '../../fault-answers.ts'
import type { ListenerDependencies } from '../caller/journey.ts'
import { PREFIXES } from '../caller/routes.ts'
import { idIn, servedBy, type KnownRequest } from '../caller/served.ts'
import { sendContent, type ContentOutside } from './content.ts'
import { createFile, type CreatingFiles } from './create.ts'
import { fileList, fileObject } from './objects.ts'
import { deletedFile, file, fileForm, fileListing, fileQuery } from './schemas.ts'

export interface FilesDependencies extends ListenerDependencies, CreatingFiles, ContentOutside {}

/** The route in records, and the faults of its errors. */
export const AS_FILES = { route: 'files', faultOf: fileFault }

const READ_FAULTS = faultAnswers([401, 404, 503], 'gateway')

export function registerFiles(app: FastifyInstance, dependencies: FilesDependencies): void {
  const params = z.object({ id: z.string() })
  for (const { prefix, hide } of PREFIXES) {
    app.post(`${prefix}/files`, {
      schema: {
        hide,
        operationId: 'createFile',
        summary: 'Keep a file of requests for a batch',
        consumes: ['multipart/form-data'],
        body: fileForm,
        response: { 200: file, ...faultAnswers([400, 401, 408, 413, 415, 429, 503], 'gateway') },
      },
      ...servedBy(dependencies, { ...AS_FILES, isCounted: true }, async ({ request, response, key }) =>
        fileObject(await createFile(request.raw, response, key, dependencies)),
      ),
    })
    app.get(`${prefix}/files`, {
      schema: {
        hide,
        operationId: 'listFiles',
        summary: 'Files of the project',
        querystring: fileQuery,
        response: { 200: fileListing, ...faultAnswers([400, 401, 404, 503], 'gateway') },
      },
      ...servedBy(dependencies, AS_FILES, ({ request, key }) => listed(request, key, dependencies)),
    })
    app.get(`${prefix}/files/:id`, {
      schema: {
        hide,
        operationId: 'getFile',
        summary: 'What is known of a file',
        params,
        response: { 200: file, ...READ_FAULTS },
      },
      ...servedBy(dependencies, AS_FILES, async (asked) => fileObject(await found(asked, dependencies))),
    })
    app.delete(`${prefix}/files/:id`, {
      schema: {
        hide,
        operationId: 'deleteFile',
        summary: 'Delete a file. A batch that works with it goes on',
        params,
        response: { 200: deletedFile, ...READ_FAULTS },
      },
      ...servedBy(dependencies, AS_FILES, async ({ request, key }) => {
        const id = idIn(request)
        if (!(await dependencies.files.delete(id, key.project))) throw missing(id)
        return { id, object: 'file', deleted: true }
      }),
    })
    app.get(`${prefix}/files/:id/content`, {
      schema: {
        hide,
        operationId: 'getFileContent',
        summary: 'The bytes of a file, whole or a range of them',
        params,
        response: { 200: z.any().describe('The bytes.'), ...READ_FAULTS },
      },
      ...servedBy(dependencies, AS_FILES, async (asked) => {
        const { request, response } = asked
        const stored = await found(asked, dependencies)
        await sendContent(request.raw, response, { file: stored, requestId: request.id }, dependencies)
        return undefined
      }),
    })
  }
}

async function found({ request, key }: KnownRequest, { files }: FilesDependencies): Promise<StoredFile> {
  const id = idIn(request)
  const stored = await files.find(id, key.project)
  if (stored === undefined) throw missing(id)
  return stored
}

/** The same answer for another project's file: its existence is not disclosed. */
function missing(id: string): Fault {
  return new Fault('not_found', `No such File object: ${id.slice(0, 80)}`, { param: 'id' })
}

/** OpenAI's own maximum and default. */
const MAX_LISTED = 10_000

async function listed(
  { url }: FastifyRequest,
  { project }: Key,
  { files }: FilesDependencies,
): Promise<object> {
  const { searchParams: query } = new URL(url, 'http://gateway')
  const order = query.get('order') ?? 'desc'
  if (order !== 'asc' && order !== 'desc')
    throw new Fault('invalid_parameter', "order must be 'asc' or 'desc'.", { param: 'order' })
  const limit = Number(query.get('limit') ?? MAX_LISTED)
  if (!Number.isSafeInteger(limit) || limit < 1 || limit > MAX_LISTED)
    throw new Fault('invalid_parameter', `limit must be a whole number from 1 to ${MAX_LISTED}.`, {
      param: 'limit',
    })
  const purpose = query.get('purpose') ?? undefined
  // No file has any other purpose.
  if (purpose !== undefined && !isKept(purpose)) return fileList([], false)
  const after = query.get('after') ?? undefined
  const page = await files.list({ project, purpose, order, limit, after })
  if (page === undefined)
    throw new Fault('not_found', `There is no file '${after?.slice(0, 80)}' to list from.`, {
      param: 'after',
    })
  return fileList(page.files, page.hasMore)
}

function isKept(purpose: string): purpose is NonNullable<FileQuery['purpose']> {
  return purpose === 'batch' || purpose === 'batch_output'
}
