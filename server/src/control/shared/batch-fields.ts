/** Batches as several features show them. */
import { z } from 'zod'
import { PAUSED_BY_PERSON, REMEDIES, remedyFor } from '#core/batch/remedy.ts'
import { onlySpace } from '#core/embedding/space.ts'
import { decimalOf } from '#core/money/price.ts'
import type { Batch } from '#ports/batches.ts'
import { time, usd } from './fields.ts'
import { isoOf, timeOf } from './times.ts'

export const batchState = z.enum(['in_progress', 'cancelling', 'completed', 'failed', 'expired', 'cancelled'])

const batchPause = z
  .object({
    code: z.string().describe('The code of a fault; `paused_by_person`: a person paused it.'),
    text: z.string().describe('Why it waits, and what ends the pause.'),
    until: time.nullable().describe('When Torana tries again at the earliest. null: it waits for a person.'),
    by: z.string().nullable().describe('The person who paused it.'),
    at: time.nullable().describe('When that person paused it.'),
    reason: z.string().nullable().describe("That person's words."),
    remedy: z.object({
      kind: z.enum(REMEDIES).describe('The next step.'),
      project: z.string(),
      key: z.string(),
      model: z.string().nullable(),
    }),
  })
  .meta({ id: 'BatchPause' })

const file = z.object({
  id: z.string(),
  bytes: z.int().describe('So far; 0: there is none yet.'),
})

export const reportedBatch = z
  .object({
    id: z.string(),
    state: batchState,
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
    results_until: time.nullable().describe('When its results expire. null: it has not ended.'),
    pause: batchPause.nullable().describe('Why nothing of it begins at present.'),
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

export function batchBody(batch: Batch): z.output<typeof reportedBatch> {
  const { createdAtMs, endedAtMs } = batch
  return {
    id: batch.id,
    state: batch.state,
    project: batch.project,
    key: batch.keyId,
    endpoint: batch.endpoint,
    model: batch.model ?? null,
    lines: { total: batch.lines, completed: batch.completed, failed: batch.failed },
    tokens: batch.tokens,
    cost_usd: decimalOf(batch.costNanoUsd),
    unknown_cost_usd: decimalOf(batch.unknownNanoUsd),
    space: onlySpace(batch.spaces),
    dropped_lines: batch.droppedLines,
    created_at: isoOf(createdAtMs),
    expires_at: isoOf(batch.expiresAtMs),
    cancelling_at: timeOf(batch.cancellingAtMs),
    ended_at: timeOf(endedAtMs),
    results_until: endedAtMs === undefined ? null : isoOf(endedAtMs + batch.resultsKeptMs),
    pause: pauseBody(batch),
    continued: batch.isContinued,
    cancelled_because: batch.cancelCode ?? null,
    input_file: batch.inputFileId,
    output: { id: batch.outputFileId, bytes: batch.outputBytes },
    errors: { id: batch.errorFileId, bytes: batch.errorBytes },
  }
}

function pauseBody(batch: Batch): z.output<typeof batchPause> | null {
  const { pause, pausedBy, project, keyId, model } = batch
  const code = pausedBy === undefined ? pause?.code : PAUSED_BY_PERSON
  if (code === undefined) return null
  const { remedy, retries, text } = remedyFor(code)
  return {
    code,
    text,
    until: retries ? timeOf(pause?.untilMs) : null,
    by: pausedBy?.name ?? null,
    at: timeOf(pausedBy?.atMs),
    reason: pausedBy?.reason ?? null,
    remedy: { kind: remedy, project, key: keyId, model: model ?? null },
  }
}
