/** A batch as callers see it: OpenAI's object, with what Torana adds under `torana`. */
import { PAUSED_BY_PERSON } from '#core/batch/remedy.ts'
import { onlySpace } from '#core/embedding/space.ts'
import { decimalOf } from '#core/money/price.ts'
import type { Batch } from '#ports/batches.ts'

const HOUR_MS = 3_600_000

export function batchView(batch: Batch) {
  const { state, endedAtMs, tokens, outputTokens } = batch
  const endedAs = (...states: readonly Batch['state'][]): number | null =>
    states.includes(state) ? secondsOf(endedAtMs) : null
  return {
    id: batch.id,
    object: 'batch',
    endpoint: batch.endpoint,
    model: batch.model ?? null,
    errors: batch.errors.length === 0 ? null : { object: 'list', data: batch.errors.map(errorView) },
    input_file_id: batch.inputFileId,
    completion_window: `${Math.round((batch.expiresAtMs - batch.createdAtMs) / HOUR_MS)}h`,
    status: state,
    output_file_id: batch.outputBytes > 0 ? batch.outputFileId : null,
    error_file_id: batch.errorBytes > 0 ? batch.errorFileId : null,
    created_at: secondsOf(batch.createdAtMs),
    in_progress_at: state === 'failed' ? null : secondsOf(batch.createdAtMs),
    expires_at: secondsOf(batch.expiresAtMs),
    finalizing_at: endedAs('completed', 'expired'),
    completed_at: endedAs('completed'),
    failed_at: endedAs('failed'),
    expired_at: endedAs('expired'),
    cancelling_at: secondsOf(batch.cancellingAtMs),
    cancelled_at: endedAs('cancelled'),
    request_counts: { total: batch.lines, completed: batch.completed, failed: batch.failed },
    usage: {
      input_tokens: tokens - outputTokens,
      input_tokens_details: { cached_tokens: 0 },
      output_tokens: outputTokens,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: tokens,
    },
    metadata: batch.metadata ?? null,
    torana: {
      cost_usd: decimalOf(batch.costNanoUsd),
      unknown_cost_usd: decimalOf(batch.unknownNanoUsd),
      pause: pauseView(batch),
      cancelled_because: batch.cancelCode ?? null,
      space: onlySpace(batch.spaces),
      dropped_lines: batch.droppedLines,
      tags: batch.tags ?? null,
    },
  }
}

/** A pause by a person has no end of its own. */
function pauseView({ pause, pausedBy }: Batch) {
  if (pausedBy !== undefined) return { code: PAUSED_BY_PERSON, until: null }
  return pause === undefined ? null : { code: pause.code, until: secondsOf(pause.untilMs) }
}

function errorView({ code, message, param, line }: Batch['errors'][number]) {
  return { code, message, param: param ?? null, line: line ?? null }
}

function secondsOf(ms: number | undefined): number | null {
  return ms === undefined ? null : Math.floor(ms / 1000)
}
