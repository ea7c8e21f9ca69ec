/** Batches in the OpenAPI document. */
import { z } from 'zod'
import { BATCH_ENDPOINTS } from '#core/batch/request.ts'

const moment = z.int().nullable().describe('Unix seconds; null: it has not come to that.')

export const batchRequest = z
  .object({
    input_file_id: z.string(),
    endpoint: z.enum(BATCH_ENDPOINTS),
    completion_window: z.string().describe('`24h`, or another number of hours up to `168h`.'),
    metadata: z
      .record(z.string(), z.string())
      .nullish()
      .describe('Notes of yours. Tags of the lines come in the header `x-torana-tags`.'),
    output_expires_after: z.object({ anchor: z.literal('created_at'), seconds: z.int() }).nullish(),
  })
  .meta({
    id: 'BatchRequest',
    examples: [
      {
        input_file_id: 'file-0197f0f3-6a2c-7d61-9c55-3f1b1c2d3e4f',
        endpoint: '/v1/embeddings',
        completion_window: '24h',
      },
    ],
  })

export const batchObject = z
  .object({
    id: z.string(),
    object: z.literal('batch'),
    endpoint: z.string(),
    model: z.string().nullable(),
    errors: z
      .object({
        object: z.literal('list'),
        data: z.array(
          z.object({
            code: z.string(),
            message: z.string(),
            param: z.string().nullable(),
            line: z.int().nullable(),
          }),
        ),
      })
      .nullable(),
    input_file_id: z.string(),
    completion_window: z.string(),
    status: z.enum(['in_progress', 'cancelling', 'completed', 'failed', 'expired', 'cancelled']),
    output_file_id: z.string().nullable(),
    error_file_id: z.string().nullable(),
    created_at: z.int(),
    in_progress_at: moment,
    expires_at: moment,
    finalizing_at: moment,
    completed_at: moment,
    failed_at: moment,
    expired_at: moment,
    cancelling_at: moment,
    cancelled_at: moment,
    request_counts: z.object({ total: z.int(), completed: z.int(), failed: z.int() }),
    usage: z.object({
      input_tokens: z.int(),
      input_tokens_details: z.object({ cached_tokens: z.int() }),
      output_tokens: z.int(),
      output_tokens_details: z.object({ reasoning_tokens: z.int() }),
      total_tokens: z.int(),
    }),
    metadata: z.record(z.string(), z.string()).nullable(),
    torana: z.object({
      cost_usd: z.string().describe('What it has cost so far, by the ledger.'),
      unknown_cost_usd: z
        .string()
        .describe('Of the cost: calls whose outcome is unknown, with what was reserved for them.'),
      pause: z
        .object({ code: z.string(), until: z.int().nullable() })
        .nullable()
        .describe(
          'Why nothing of it begins at present, by the code of a fault. `key_revoked` and `key_expired` wait for an operator, who continues or cancels it; `paused_by_person` for one who resumes it.',
        ),
      cancelled_because: z
        .string()
        .nullable()
        .describe(
          'Where Torana cancelled it, the code of a fault: `key_revoked` after a leak, `project_deleted`. null: a caller or an operator did, or it was not cancelled.',
        ),
      space: z
        .string()
        .nullable()
        .describe(
          'The vector space of its results; null: there are none yet, their models or widths differ, or a line has a field that may change vectors in a way that Torana does not know.',
        ),
      tags: z
        .record(z.string(), z.string())
        .nullable()
        .describe('Of all its lines, from the header `x-torana-tags`. null: none.'),
      dropped_lines: z
        .int()
        .describe(
          'Lines whose vectors had left the space of their model. They are made again, unless the batch was cancelled.',
        ),
    }),
  })
  .meta({ id: 'Batch' })

export const batchList = z.object({
  object: z.literal('list'),
  data: z.array(batchObject),
  first_id: z.string().nullable(),
  last_id: z.string().nullable(),
  has_more: z.boolean(),
})
