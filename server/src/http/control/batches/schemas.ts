/** The shapes of batches at the control API. */
import { z } from 'zod'
import { cursor, storable, time, usd } from '../wire/fields.ts'

const NAME = 512

const state = z.enum(['in_progress', 'cancelling', 'completed', 'failed', 'expired', 'cancelled'])

export const batchesQuery = z.object({
  project: storable(NAME).optional(),
  state: z
    .enum(['open', ...state.options])
    .optional()
    .describe('`open`: those that have not ended.'),
  limit: z.coerce.number().int().min(1).max(200).default(50),
  after: storable(80).optional(),
})

export const batchPath = z.object({ id: storable(80) })

const file = z.object({
  id: z.string(),
  bytes: z.int().describe('So far; 0: there is none yet.'),
})

export const reportedBatch = z
  .object({
    id: z.string(),
    state,
    project: z.string(),
    key: z.string(),
    endpoint: z.string(),
    model: z.string().nullable().describe('null: its lines name none, or several.'),
    lines: z.object({ total: z.int(), completed: z.int(), failed: z.int() }),
    tokens: z.int(),
    cost_usd: usd.describe('What it has cost so far, by the ledger.'),
    unknown_cost_usd: usd.describe(
      'Of the cost: calls whose outcome is unknown, with what was reserved for them.',
    ),
    space: z
      .string()
      .nullable()
      .describe(
        'The vector space of its results; null: there are none yet, their models or widths differ, or a line has a field that may change vectors in a way that Torana does not know.',
      ),
    dropped_lines: z
      .int()
      .describe(
        'Lines whose vectors had left the space of their model. They are made again, unless the batch was cancelled.',
      ),
    created_at: time,
    expires_at: time.describe('Lines that have not run by then are not run any more.'),
    cancelling_at: time.nullable(),
    ended_at: time.nullable(),
    results_until: time.nullable().describe('So long its results are kept; null: it has not ended.'),
    pause: z
      .object({ code: z.string().describe('The code of a fault.'), until: time })
      .nullable()
      .describe(
        'Why nothing of it begins at present. `key_revoked` and `key_expired` wait for a person, who continues or cancels it.',
      ),
    continued: z
      .boolean()
      .describe('A person let it go on without its key: it runs under the terms of its project.'),
    cancelled_because: z
      .string()
      .nullable()
      .describe(
        'The code of a fault, where Torana cancelled it: `key_revoked` after a leak, `project_deleted`.',
      ),
    input_file: z.string(),
    output: file,
    errors: file,
  })
  .meta({ id: 'ReportedBatch' })

export const reportedBatchDetail = reportedBatch
  .extend({
    metadata: z.record(z.string(), z.string()),
    file_errors: z
      .array(
        z.object({
          code: z.string(),
          message: z.string(),
          param: z.string().nullable(),
          line: z.int().nullable(),
        }),
      )
      .describe('Why its file could not be run.'),
    faults: z
      .array(z.object({ code: z.string(), lines: z.int() }))
      .describe('Lines that failed, by code; the most first.'),
    lines_per_second: z.number().nullable().describe('Over the last five minutes; null: it has ended.'),
    series: z
      .object({ slot_ms: z.int(), lines: z.array(z.int()) })
      .describe('Lines that were done in each slot, from `created_at` on.'),
  })
  .meta({ id: 'ReportedBatchDetail' })

export const batchList = z
  .object({ data: z.array(reportedBatch), has_more: z.boolean(), next: cursor })
  .meta({ id: 'ReportedBatchList' })
