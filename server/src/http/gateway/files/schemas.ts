/** Shapes of the file operations, for OpenAPI. Requests are read by hand. */
import { z } from 'zod'

export const file = z
  .object({
    id: z.string(),
    object: z.literal('file'),
    bytes: z.int(),
    created_at: z.int().describe('Unix seconds.'),
    expires_at: z.int().nullable().describe('Unix seconds.'),
    filename: z.string(),
    purpose: z.enum(['batch', 'batch_output']),
    status: z.literal('processed'),
    status_details: z.null(),
  })
  .meta({
    id: 'File',
    examples: [
      {
        id: 'file-0197f0f3-6a2c-7d61-9c55-3f1b1c2d3e4f',
        object: 'file',
        bytes: 2048,
        created_at: 1_763_424_000,
        expires_at: 1_766_016_000,
        filename: 'requests.jsonl',
        purpose: 'batch',
        status: 'processed',
        status_details: null,
      },
    ],
  })

export const fileListing = z
  .object({
    object: z.literal('list'),
    data: z.array(file),
    first_id: z.string().nullable(),
    last_id: z.string().nullable(),
    has_more: z.boolean(),
  })
  .meta({ id: 'FileList' })

export const deletedFile = z
  .object({ id: z.string(), object: z.literal('file'), deleted: z.literal(true) })
  .meta({
    id: 'DeletedFile',
    examples: [{ id: 'file-0197f0f3-6a2c-7d61-9c55-3f1b1c2d3e4f', object: 'file', deleted: true }],
  })

export const fileForm = z
  .object({
    file: z.string().describe('The file: JSONL, one request per line.'),
    purpose: z.literal('batch'),
    'expires_after[anchor]': z.literal('created_at').optional(),
    'expires_after[seconds]': z
      .int()
      .min(3600)
      .max(2_592_000)
      .optional()
      .describe('Default: 30 days, which is also the most.'),
  })
  .meta({ id: 'FileForm', examples: [{ file: '@requests.jsonl', purpose: 'batch' }] })

export const fileQuery = z.object({
  purpose: z.string().optional(),
  limit: z.int().min(1).max(10_000).optional().describe('Default: 10,000.'),
  order: z.enum(['asc', 'desc']).optional().describe('By the time they were made. Default: `desc`.'),
  after: z.string().optional().describe('The id of the last file of the page before.'),
})

export const uploadRequest = z
  .object({
    filename: z.string(),
    purpose: z.literal('batch'),
    bytes: z.int().min(1).describe('Of all parts together, at most 8 GB.'),
    mime_type: z.string(),
    expires_after: z
      .object({ anchor: z.literal('created_at'), seconds: z.int().min(3600).max(2_592_000) })
      .optional(),
  })
  .meta({
    id: 'UploadRequest',
    examples: [
      { filename: 'requests.jsonl', purpose: 'batch', bytes: 104_857_600, mime_type: 'application/jsonl' },
    ],
  })

export const upload = z
  .object({
    id: z.string(),
    object: z.literal('upload'),
    bytes: z.int(),
    created_at: z.int(),
    expires_at: z.int().describe('Unix seconds: until then it takes parts.'),
    filename: z.string(),
    purpose: z.literal('batch'),
    status: z.enum(['pending', 'completed', 'cancelled']),
    file: file.nullable(),
  })
  .meta({ id: 'Upload' })

export const uploadPartForm = z
  .object({ data: z.string().describe('The bytes, as a file of the form.') })
  .meta({ id: 'UploadPartForm', examples: [{ data: '@part-1' }] })

export const uploadPart = z
  .object({
    id: z.string(),
    object: z.literal('upload.part'),
    created_at: z.int(),
    upload_id: z.string(),
  })
  .meta({ id: 'UploadPart' })

export const uploadCompletion = z
  .object({ part_ids: z.array(z.string()), md5: z.string().optional() })
  .meta({ id: 'UploadCompletion', examples: [{ part_ids: ['part-1', 'part-2'] }] })
